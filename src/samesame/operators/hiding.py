"""Hiding: large numbers that masks add or put in, read as the −∞ that they stand for.

Over the reals exp(−1e9) is not 0, and softmax(s − 1e9·(1 − m)) gives what it masks a weight that no float holds. People
mean −∞. So when a proof fails with the numbers as they are, it may be made once more `with hiding():`, where a number
of at most −1e4 is −∞, and one of at least 1e8, which masks subtract, +∞, of which only the negative may be left. As a
factor such a number is infinite where the other factor is a whole number, or a choice among numbers as 1 − mask is, and
not 0: 0·(−1e9) is 0. A factor that may be ever so small hides nothing, so it is not read.

Each number read is a condition that the headline prints, and a proof stands only if every −∞ vanishes in a softmax.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from samesame.formula.assumptions import Assumption, Said
from samesame.formula.expr import NEG_INF, Add, Expr, Load, Mul, Num, Where, const, lt, where
from samesame.formula.infinite import PLUS_INFINITY, negated
from samesame.graph import Graph
from samesame.operators.table import packet

HIDDEN = -1e4               # exp of it is 0 in floating point
OPPOSITE = 1e8              # what masks subtract; the bases of rotary embeddings are smaller
SOFTENING = frozenset(      # what makes 0 of −∞
    f"aten.{name}"
    for name in [
        *("softmax", "_softmax", "_safe_softmax", "special_softmax", "log_softmax", "_log_softmax", "logsumexp"),
        *("exp", "exp2", "sigmoid", "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu"),
        *("_scaled_dot_product_attention_math", "cross_entropy_loss"),
    ]
)
COUNTS = "{} counts as −∞: whatever it hides has no weight, and something is left of every row"
_hiding: ContextVar[bool] = ContextVar("hiding", default=False)


@contextmanager
def hiding() -> Iterator[None]:
    """Inside, numbers that masks put in are −∞."""
    token = _hiding.set(True)
    try:
        yield
    finally:
        _hiding.reset(token)


def hides(value: float, *, factor: bool = False) -> bool:
    """Whether a number is one that a mask would put in or subtract, or multiply by where it is a factor."""
    return -inf < value <= HIDDEN or (-HIDDEN if factor else OPPOSITE) <= value < inf


def is_hiding() -> bool:
    return _hiding.get()


def condition(value: float) -> Said:
    return Said("hidden", COUNTS, (f"{-abs(value):g}",))


def told(assumptions: Iterable[Assumption]) -> list[str]:
    """What a headline says of numbers that were read so, if any were."""
    numbers = dict.fromkeys(one.about[0] for one in assumptions if isinstance(one, Said) and one.kind == "hidden")
    return [f"where {' and '.join(numbers)} counts as −∞ and hides no whole row"] if numbers else []


def hidden(value: float) -> Expr:
    """−∞ for a number that hides, and its negative for one that is subtracted."""
    return NEG_INF if value < 0 else PLUS_INFINITY


def times(value: float, factor: Expr) -> Expr | None:
    """The number that hides, times what may be 0; None where that is no choice among numbers."""
    if not _is_choice(factor):
        return None
    infinite = hidden(value)
    return where(lt(0, factor), infinite, where(lt(factor, 0), negated(infinite), const(0)))


def _is_choice(e: Expr) -> bool:
    """Whether it takes whole values, or a few that are written down."""
    match e:
        case Num():
            return True
        case Load():
            return e.kind != "real"
        case Add(parts) | Mul(parts):
            return all(map(_is_choice, parts))
        case Where(_, then, otherwise):
            return _is_choice(then) and _is_choice(otherwise)
    return False


def may_hide(graph: Graph) -> bool:
    """Is there a number that hides, and something in which −∞ vanishes?"""
    if not any(packet(node.operator) in SOFTENING for node in graph.nodes):
        return False
    held = (value.flatten()[0].item() for node in graph.sources("constant")
            if (value := graph.tensors[node.name]).is_floating_point() and value.numel())
    given = (value for node in graph.nodes for value in (*node.args, *node.kwargs.values()) if isinstance(value, float))
    return any(hides(value, factor=True) for value in (*held, *given))
