"""Every launch that a function makes: its host code runs with symbolic sizes, else with those of the example."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from samesame.evidence import Refused
from samesame.kernels.host.contracts import contracts
from samesame.kernels.host.device import pretended
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launch import Captured
from samesame.kernels.host.trace import loaded, run_host
from samesame.kernels.host.written import writes
from samesame.programs.alone import alone, on_behalf


def capture_launches(
    target: Any,
    inputs: Any = None,
    *,
    symbolic: bool = True,
    timeout: float = 60.0,
    step: int = 1,
    assume: Sequence[str] = (),
    literal: bool = False,
    apart: bool = False,
    reads: Sequence[int] | None = None,
) -> Captured:
    """Every launch of a Triton kernel that a function makes, without a GPU.

    `target` is the function, or text such as `softmax.py:launch`. It is called with `inputs` (a tuple, or a dict by
    name, of tensors and numbers), else without arguments. Sizes of the tensors it is given or makes in its own body are
    symbolic, and so are the ints among its arguments and defaults (`def launch(M=1000, N=781)`), which name them. If
    the wrapper does not go through with symbols, or `symbolic` is false, it runs at the example's sizes. With a `step`
    above 1, which is only for numbers, the elements of example tensors lie so far apart: they are not contiguous. What
    a user says of sizes and elements (`assume`) is as if the host code asked for it, and has to hold in the example.
    With `literal`, short lengths that the host code writes as numbers, beside parameters for others, are no sizes;
    with `apart`, parameters that are equal in the example are sizes of their own.

    Whole numbers that the host code reads from tensors are those of one run on values (`reads`, where they are known).

    Raises Refused where no launch was reached, and where a contract is none or does not hold. Bounded by `timeout` in
    seconds.
    """
    said = contracts(assume)
    if not symbolic:
        return run_host(target, inputs, False, timeout, step=step, assume=said, reads=reads)
    left = timeout

    def over_symbols() -> Captured:
        nonlocal left
        with alone():                                                   # for what others run, it is not given less time
            started = time.monotonic()
            found = run_host(target, inputs, True, timeout, may_fail=True, assume=said, literal=literal, apart=apart,
                             reads=reads)
            left -= time.monotonic() - started
        return found

    found = over_symbols()
    if found.reads is None and reads is None:
        reads = numbers_read(target, inputs, timeout)
        found = over_symbols()
    if left <= 0 and not found.launches:
        raise Refused(found.refused[0])
    if left > 0 and (found.refused or not found.steps):
        plain = run_host(target, inputs, False, left, assume=said, reads=reads)
        if len(plain.refused) < len(found.refused) or not found.launches:
            why = found.refused[0] if found.refused else "with others it makes no step"
            return replace(plain, fixed=(f"the sizes of the example, as the host code asks for them: {why}",))
    return found


def numbers_read(target: Any, inputs: Any, timeout: float) -> tuple[int, ...] | None:
    """What the host code reads from its tensors where it runs on values; None where it does not."""
    try:
        with ThreadPoolExecutor(1) as apart:
            return apart.submit(on_behalf(interpret), target, inputs, timeout=timeout).result().reads
    except Refused:
        return None


def writes_sizes(target: Any) -> bool:
    """Whether a launch function writes its sizes down, as whole numbers at its top. Raises Refused where there is no
    such function."""
    with pretended():
        return writes(loaded(target, {}))


def contracts_beside(target: Any) -> tuple[str, ...]:
    """What a launch function itself says may be relied on: `launch.assume = ["distinct(slots)"]`. Raises Refused where
    that is no list of contracts."""
    with pretended():
        said = getattr(loaded(target, {}), "assume", ())
    if not isinstance(said, list | tuple) or not all(isinstance(one, str) for one in said):
        raise Refused(f"assume of the launch function is {said!r}; give a list of contracts: ['distinct(slots)']")
    return tuple(said)
