"""Powers with a varying exponent: of what is positive by itself they are exponentials, with a whole exponent so many
factors; elsewhere they are exponentials where the base is above zero, and of what they are below nothing is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
import torch.nn.functional as F

from samesame import check
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import NEG_INF, Opaque, const, exp, log, lt, sigmoid, walk, where
from samesame.formula.tensor import leaf, tensor
from samesame.operators import meaning_of

DICE = torch.Generator().manual_seed(0)
INPUTS = (torch.randn(2, 4, 3, generator=DICE), torch.randn(3, generator=DICE))


def averaged(x, raw):
    """A moving average, step after step."""
    keep, state, found = torch.sigmoid(raw), torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = keep * state + (1 - keep) * x[:, t]
        found.append(state)
    return torch.stack(found, 1)


def weighted(x, raw, late=0):
    """The same by powers of what is kept."""
    keep, t = torch.sigmoid(raw), torch.arange(x.shape[1])
    distance = t[:, None] - t
    weights = torch.where((distance >= 0)[..., None], keep ** (distance.clamp(min=0)[..., None] + late), 0.0)
    return torch.einsum("tsd,bsd->btd", weights, x) * (1 - keep)


def test_powers_of_a_sigmoid_are_a_moving_average():
    assert check(averaged, weighted, INPUTS).verdict == "same"
    assert check(averaged, lambda x, raw: weighted(x, raw, late=1), INPUTS).verdict == "different"


def is_split(power):
    """Is it an exponential only where the base is above zero?"""
    return any(isinstance(part, Opaque) and part.name == "aten.pow" for part in walk(power.element()[1]))


@pytest.mark.parametrize("name", ["aten.tanh", "aten.cos", "aten.relu"])
def test_powers_of_what_may_be_negative_or_zero_have_a_meaning_where_the_exponent_is_whole(name):
    base, whole, real = leaf("x", (3,)), leaf("n", (3,), "int"), leaf("y", (3,))
    power = meaning_of("aten.pow.Tensor_Tensor")
    assert is_split(power(meaning_of(f"{name}.default")(base), real))
    assert not is_split(power(meaning_of(f"{name}.default")(base), whole))
    assert not is_split(power(meaning_of("aten.sigmoid.default")(base), real))


def decayed(x, raw):
    """A state that any number keeps a part of, one below 0 or 0 itself, too."""
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = raw * state + x[:, t]
        found.append(state)
    return torch.stack(found, 1)


def decayed_at_once(x, raw, distance):
    t = torch.arange(x.shape[1])
    weights = raw ** distance(t[:, None] - t)[..., None].to(x.dtype)
    return torch.einsum("tsd,bsd->btd", torch.where((t[:, None] >= t)[..., None], weights, 0.0), x)


@pytest.mark.parametrize("distance", [lambda d: d, lambda d: d.clamp(min=0), lambda d: torch.where(d > 0, d, 0)])
def test_whole_powers_of_any_number_are_a_decay(distance):
    assert check(decayed, lambda x, raw: decayed_at_once(x, raw, distance), INPUTS).verdict == "same"
    assert check(decayed, lambda x, raw: decayed_at_once(x, raw, lambda d: distance(d) + 1), INPUTS
                 ).verdict == "different"


def test_an_integer_to_a_negative_power_is_no_fraction():
    def counted(n):
        return (2 ** n).float()

    def real(n):
        return torch.exp2(n.float())

    assert check(counted, real, (torch.tensor([0, 1, 2, 3, 5]),)).verdict != "same"
    assert check(lambda x: x * 2 ** torch.arange(5), lambda x: x * torch.exp2(torch.arange(5.0)), (torch.randn(5),)
                 ).verdict == "same"


def test_a_positive_base_for_each_head():
    """Which base it is, is a choice; no base of it may be 0 or less."""
    bases, exponents = leaf("e", (2, 4)), leaf("n", (2, 4), "int", (0, 5))
    chosen = tensor((2, 4), lambda h, i: where(lt(h, 1), const(Fraction(9, 10)), const(Fraction(3, 4))))
    found = meaning_of("aten.pow.Tensor_Tensor")(chosen, exponents)
    numbers = torch.randint(0, 6, (2, 4), generator=DICE)
    given = {"n": numbers.numpy(), "e": numbers.double().numpy()}
    expected = torch.tensor([[0.9], [0.75]], dtype=torch.float64) ** numbers
    torch.testing.assert_close(torch.from_numpy(evaluate(found, given)), expected)
    for other in (const(0), const(-1), bases[0, 0]):
        mixed = tensor((2, 4), lambda h, i, other=other: where(lt(h, 1), const(Fraction(9, 10)), other))
        assert is_split(meaning_of("aten.pow.Tensor_Tensor")(mixed, leaf("r", (2, 4))))


def test_an_exponential_of_what_a_mask_leaves_out_is_no_positive_base():
    """It is 0, and 0 to the power of 0 is 1, where exp(0·(−∞)) is NaN."""
    x, mask, power = leaf("x", (3,)), leaf("mask", (3,), "bool"), meaning_of("aten.pow.Tensor_Tensor")
    for base in (exp(where(mask[0], x[0], NEG_INF)), sigmoid(where(mask[0], x[0], NEG_INF)), exp(log(x[0]))):
        assert is_split(power(tensor((3,), lambda i, base=base: base), leaf("y", (3,))))
    assert not is_split(power(tensor((3,), lambda i: exp(where(mask[i], x[i], -5))), leaf("y", (3,))))


def softened(x, p):
    return torch.log1p(torch.exp(x)) ** p


def softened_by_logarithms(x, p, more=0):
    return torch.exp((p + more) * torch.log(torch.log(torch.exp(x) + 1)))


def test_a_logarithm_of_more_than_one_is_a_base_above_zero():
    assert check(softened, softened_by_logarithms, INPUTS).verdict == "same"
    assert check(softened, lambda x, p: softened_by_logarithms(x, p, 1), INPUTS).verdict == "different"


def pooled(x, p):
    """Generalised means, whose exponent is learnt."""
    return x.clamp(min=1e-6).pow(p[0]).mean(1).pow(1 / p[0])


def of_logarithms(x, p, times=1):
    return torch.exp(torch.log(torch.exp(p[0] * torch.log(torch.clamp(x, min=1e-6))).mean(1) * times) / p[0])


def test_a_generalised_mean_has_bases_above_zero():
    assert check(pooled, of_logarithms, INPUTS).verdict == "same"
    assert check(pooled, lambda x, p: of_logarithms(x, p, 2), INPUTS).verdict == "different"


def addressed(memory, shift, previous, sharp):
    """A Turing machine's weights: moved by at most one slot, and sharpened."""
    s, w = shift.softmax(-1), torch.softmax(previous, -1)
    w = (s[:, 0:1] * torch.roll(w, -1, 1) + s[:, 1:2] * w) ** (1 + F.softplus(sharp))
    return (w / w.sum(-1, keepdim=True)) @ memory


def addressed_by_logarithms(memory, shift, previous, sharp, first=0):
    s, w = shift.softmax(-1), torch.softmax(previous, -1)
    w = torch.log(s[:, first:first + 1] * torch.roll(w, -1, 1) + s[:, 1:2] * w)
    return torch.softmax((1 + F.softplus(sharp)) * w, -1) @ memory


def test_a_base_that_is_a_tensor_between_is_looked_into():
    """Of the tensor before the power nothing is known; of the softmaxes that it is made of much is."""
    given = torch.randn(6, 4), torch.randn(2, 3), torch.randn(2, 6), torch.randn(2, 1)
    assert check(addressed, addressed_by_logarithms, given).verdict == "same"
    assert check(addressed, lambda *all: addressed_by_logarithms(*all, first=2), given).verdict == "different"


def test_of_a_base_that_may_be_negative_a_power_is_no_exponential_of_a_logarithm():
    assert check(lambda x, p: x ** p, lambda x, p: torch.exp(p * torch.log(x.abs())), INPUTS[::-1]).verdict != "same"
    assert check(lambda x, p: x ** p, lambda x, p: torch.exp(p * torch.log(x)), (INPUTS[1].exp(), INPUTS[1])
                 ).verdict == "undecided"
