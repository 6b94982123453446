"""Kernels of random branches and returns: each is verified, and its formula is what the interpreter stores."""

from __future__ import annotations

from pathlib import Path
from random import Random
from textwrap import indent

import pytest

pytest.importorskip("triton")

from lifted import Lifted

CONDITIONS = (
    "program % 2 == 0", "program < 3", "program % 4 == 1", "program > k", "n > 50", "program == 2", "2 * program < k",
    "tl.load(flag_ptr + program) > 0",
)  # fmt: skip
CHANGES = ("y + 1", "y * 2", "x - y", "y * y", "y + program")
KERNEL = """
import torch, triton
import triton.language as tl

@triton.jit
def function(x, y, flag_ptr, program, n, k):
{function}
    return y

@triton.jit
def kernel(x_ptr, flag_ptr, out_ptr, n, k, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    y = x
{kernel}
    y = function(x, y, flag_ptr, program, n, k)
    tl.store(out_ptr + offsets, y, mask=offsets < n)

def launch_random(n=150, k=7):
    x = torch.randn(n, device="cuda")
    flag = torch.randint(-1, 2, (n,), dtype=torch.int32, device="cuda")
    out = torch.zeros(n, device="cuda")
    kernel[(triton.cdiv(n, 16),)](x, flag, out, n, k, BLOCK=16)
    return out
"""


def branches(random: Random, ends: tuple[str, ...], depth: int = 2) -> str:
    """Some lines that change y, with branches of which a part ends in one of the `ends`."""
    lines = []
    for _ in range(random.randint(1, 2)):
        lines.append(f"y = {random.choice(CHANGES)}")
        if depth:
            lines += [f"if {random.choice(CONDITIONS)}:", indent(branches(random, ends, depth - 1), "    ")]
            if random.random() < 0.6:
                lines += ["else:", indent(branches(random, ends, depth - 1), "    ")]
    if depth < 2 and random.random() < 0.4:
        lines.append(random.choice(ends))
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(6))
def test_it_is_verified_and_is_what_the_interpreter_stores(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    store = "tl.store(out_ptr + offsets, y, mask=offsets < n)\nreturn"
    bodies = branches(random, ("return y", "return x")), branches(random, (store, "return"))
    text = KERNEL.format(function=indent(bodies[0], "    "), kernel=indent(bodies[1], "    "))
    (tmp_path / "kernels.py").write_text(text)
    kernels = Lifted(tmp_path / "kernels.py")
    assert kernels.kernel("random").verdict == "verified", text
    assert kernels.error("random") < 1e-5, text
    assert kernels.error("random", {"n": 61, "k": 3}) < 1e-5, text
