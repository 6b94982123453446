"""Whether kernels hold what they should: the formula of each buffer that is written, over what its kernel reads.

A kernel's meaning asks three kinds of questions: that no access lies outside, that what is claimed of its steps holds,
and that its formulas are those of the schedule. Each has a budget; what one has not answered is not proved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from samesame.formula.alike import alike
from samesame.formula.binders import put
from samesame.formula.equal import Budget, NotProved, Proved, prove_equal
from samesame.formula.expr import ONE, ZERO, Expr, Fold, Leaf, Load, Unsupported, Where, index, rebuild, walk, where
from samesame.formula.tensor import Tensor
from samesame.optimize.ir import Buffer, Kernel, Program, anonymous
from samesame.optimize.meaning import Claim, Malformed, meaning

BUDGET = Budget(seconds=4.0)                         # of one question
MOST = 4096                                          # answers that are kept
KNOWN: dict[tuple[Expr, Expr], Proved] = {}
Elements = Mapping[str, Callable[[tuple[Expr, ...]], Expr]]         # what stands for a tensor's element, by name


@dataclass(frozen=True)
class Checked:
    """Whether a program holds what it should; where not, `reason` names the buffer and why. `conditions` were used."""

    proved: bool
    conditions: tuple[str, ...] = ()
    reason: str = ""


def proved(
    program: Program, holds: Mapping[str, Tensor], claims: Mapping[str, Claim] | None = None,
    sums: Iterable[tuple[Expr, Expr]] = (), budget: Budget = BUDGET,
) -> Checked:
    """Whether each written buffer holds its formula in `holds`, over the tensors that its kernel reads, for all sizes.

    Sizes and tiles that are symbols may be any positive integers. Buffers written by one kernel and read by a later one
    are leaves there, so a program is what its formulas are, put into one another: the first of each two `sums` is what
    kernels and claims make together, the second what it should be. The budget is each question's.
    """
    conditions: list[str] = []
    made = {**holds, **{claim.leaf.name: claim.definition for claim in (claims or {}).values()}}
    elements = {name: tensor.__getitem__ for name, tensor in made.items()}
    try:
        for kernel in program.kernels:
            for name, reason, answer in _questions(kernel, holds, claims or {}, budget):
                if isinstance(answer, NotProved):
                    return Checked(False, tuple(conditions), f"kernel {kernel.name}, {name}: {reason}{answer.reason}")
                conditions.extend(map(str, answer.conditions))
        for together, whole in sums:
            answer = _equal(with_elements(together, elements), whole, budget)
            if isinstance(answer, NotProved):
                return Checked(False, tuple(conditions), f"the kernels together make another sum; {answer.reason}")
            conditions.extend(map(str, answer.conditions))
    except (Malformed, Unsupported) as error:
        return Checked(False, tuple(conditions), str(error))
    return Checked(True, tuple(dict.fromkeys(conditions)))


def with_elements(value: Expr, elements: Elements) -> Expr:
    """The value with these in place of elements of tensors, and so on within these."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            if isinstance(e, Load) and e.leaf.name in elements:
                memo[e] = go(elements[e.leaf.name](tuple(map(go, e.indices))))
            else:
                memo[e] = rebuild(e, go)
        return memo[e]

    return go(value)


def require_order(
    program: Program, made: Collection[str], weights: Collection[str], outputs: Collection[str] = ()
) -> None:
    """What is `made` here is written before it is read, a name is one buffer, and what runs ahead reads weights and
    what was made of them, and makes none of the outputs, which are new in each call; else raises Malformed."""
    buffers: dict[str, Buffer] = {}
    written: dict[str, bool] = {}
    for kernel in program.kernels:
        for buffer in kernel.tensors:
            if buffers.setdefault(buffer.name, buffer) != buffer:
                raise Malformed(f"{buffer.name} is two buffers")
        for buffer in kernel.reads:
            if buffer.name in made and buffer.name not in written:
                raise Malformed(f"{buffer.name} is read by {kernel.name} before it is written")
            if kernel.ahead and not written.get(buffer.name, buffer.name in weights):
                raise Malformed(f"{kernel.name} runs ahead and reads {buffer.name}, which is no weight")
        for buffer in kernel.writes:
            if buffer.name in written or buffer.name not in made:
                raise Malformed(f"{buffer.name} is written by {kernel.name}, and is not its to write")
            if kernel.ahead and buffer.name in outputs:
                raise Malformed(f"{kernel.name} runs ahead and writes {buffer.name}, which each call returns anew")
            written[buffer.name] = kernel.ahead


def _questions(
    kernel: Kernel, holds: Mapping[str, Tensor], claims: Mapping[str, Claim], budget: Budget
) -> Iterator[tuple[str, str, Proved | NotProved]]:
    found = meaning(kernel, claims)
    for outside, text in found.obligations:
        answer = _asked(where(with_any(outside), 1, 0), ZERO, budget)
        if isinstance(answer, NotProved) and with_any(outside) is not outside:
            answer = _asked(where(outside, 1, 0), ZERO, budget)
        yield "accesses", f"{text}; ", answer
    for left, right, name in found.equations:
        yield name, "it holds something else; ", _equal(left, right, budget)
    for name, tensor in found.holds.items():
        if name not in holds:
            raise Malformed(f"nothing says what {name} should hold")
        indices = tuple(index(size) for size in tensor.shape)
        yield name, "its formula is another; ", _equal(tensor[indices], holds[name][indices], budget)


def with_any(e: Expr) -> Expr:
    """The expression with any numbers in the place of elements: what never holds of these never holds of those."""
    known: dict[Expr, Expr] = {}
    if any(isinstance(part, Fold) for part in walk(e)):            # an element for each round is not one number
        return e

    def number(part: Expr) -> Expr | None:
        if isinstance(part, Load):
            return known.setdefault(part, Load(Leaf(f"any {len(known)}", (), part.leaf.kind), ()))
        return None

    return put(e, number)


def _equal(left: Expr, right: Expr, budget: Budget) -> Proved | NotProved:
    """What is written alike is equal, however much there is to it; so is what is, wherever it is written, if that is
    everywhere."""
    if alike(left, right):
        return Proved("normal form", (), "written alike")
    if isinstance(left, Where) and alike(left.then, right):
        everywhere = _asked(where(left.condition, 1, 0), ONE, budget)
        if isinstance(everywhere, Proved):
            return everywhere
    return _asked(left, right, budget)


def _asked(left: Expr, right: Expr, budget: Budget) -> Proved | NotProved:
    """What the prover says. That two are equal, under no conditions, it is asked once for all that are the same but for
    names: the blocks of a network, the steps of an iteration."""
    try:
        key = anonymous((left, right), {})
    except Unsupported:
        return prove_equal(left, right, budget=budget)
    answer = KNOWN.get(key) or prove_equal(left, right, budget=budget)
    if isinstance(answer, Proved) and not answer.conditions:
        if len(KNOWN) >= MOST:
            KNOWN.clear()
        KNOWN[key] = answer
    return answer
