"""What formulas leave out: NaN, infinities, domains, casts, wrap-around, negative indices, least floats.

A pair is "different" where finite inputs of the example's dtype make it so, or where a program treats NaN or an infinity on
purpose and the other does otherwise there. `WITNESS` has inputs that show it, where the example does not.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from promises.corpus.case import Case

KNOBS = {"seed": 0, "batch": 3}                 # a validation turns these; the cases stand at 0 and 3
WITNESS = {}
NAN, INF = float("nan"), float("inf")


def generator():
    return torch.Generator().manual_seed(100 + KNOBS["seed"])


def randn(*shape):
    return torch.randn(*shape, generator=generator())


def uniform(*shape):
    """In 0.05 … 0.95."""
    return torch.rand(*shape, generator=generator()) * 0.9 + 0.05


def integers(low, high, *shape, dtype=torch.int64):
    return torch.randint(low, high, shape, generator=generator()).to(dtype)


def x():
    return (randn(KNOBS["batch"], 6),)


def xy():
    both = randn(2, KNOBS["batch"], 6)
    return (both[0].clone(), both[1].clone())


def positive():
    return (uniform(KNOBS["batch"], 6),)


def two_positive():
    both = uniform(2, KNOBS["batch"], 6)
    return (both[0].clone(), both[1].clone())


def ids():
    """Ids of a large vocabulary; these are below 50."""
    return (integers(0, 50, KNOBS["batch"], 6),)


def bits():
    """A mask of zeros and ones, at least one one in each row."""
    mask = integers(0, 2, KNOBS["batch"], 6)
    mask[:, 0] = 1
    return (mask,)


def few():
    """Segment ids, of which there may be any number; here only 0 and 1."""
    return bits()


def offsets():
    """Offsets, which may be negative; these are not."""
    return ids()


def scores_and_mask():
    return (randn(KNOBS["batch"], 6), bits()[0].bool())


def pixels():
    """Bytes, dark ones."""
    both = integers(0, 100, 2, KNOBS["batch"], 6, dtype=torch.uint8)
    return (both[0].clone(), both[1].clone())


def of(*rows, dtype=torch.float32):
    return lambda: tuple(torch.tensor(row, dtype=dtype) for row in rows)


CASES = []


def same(name, why, left, right, inputs=x, condition=""):
    CASES.append(Case(name, "same", why, lambda: left, lambda: right, inputs, condition=condition))


def different(name, why, left, right, inputs=x, witness=None, only=""):
    CASES.append(Case(name, "different", why, lambda: left, lambda: right, inputs, only=only))
    WITNESS[name] = witness


def parts(name, why, left, right, elsewhere, inputs=x):
    CASES.append(Case(name, "parts", why, lambda: left, lambda: right, inputs, elsewhere))


FLAGS = "if every element of i is 0 or 1"        # of the example all are, and the headline says so
SPECIAL = of([[NAN, INF, -INF, 0.0, 1.0, -2.0]])

# ---- NaN and infinities, treated on purpose ------------------------------------------------------------------------

different("NaN made 0 or 0.2", "where(p != p, …)", lambda p: torch.where(p != p, 0.0, p), lambda p: torch.where(p != p, 0.2, p),
          witness=of([[NAN, 1.0, 2.0]]))
different("nan_to_num with and without a value for NaN", "0 against 1", lambda x: torch.nan_to_num(x), lambda x: torch.nan_to_num(x, nan=1.0),
          witness=of([[NAN, 1.0, 2.0]]))
different("nan_to_num with another bound for infinity", "the largest float against 1e4", lambda x: torch.nan_to_num(x),
          lambda x: torch.nan_to_num(x, posinf=1e4), witness=SPECIAL)
different("infinities zeroed, or all that is not finite", "NaN is neither infinite nor finite",
          lambda x: torch.where(torch.isinf(x), 0.0, x), lambda x: torch.where(torch.isfinite(x), x, 0.0), witness=SPECIAL)
different("rows without NaN counted, or all rows", "isnan(x).any(-1) is not nothing",
          lambda x: (~torch.isnan(x).any(-1)).sum(), lambda x: torch.ones_like(x[:, 0]).long().sum(), witness=SPECIAL)
different("nansum against the sum of nan_to_num", "an infinity stays one in nansum",
          lambda x: torch.nansum(x, -1), lambda x: torch.nan_to_num(x).sum(-1), witness=of([[NAN, INF, 1.0]]))
different("fmax over holes against maximum over holes", "fmax skips the NaN that stands for a hole",
          lambda x, y, m: torch.fmax(torch.where(m, x, NAN), y), lambda x, y, m: torch.maximum(torch.where(m, x, NAN), y),
          lambda: (*xy(), torch.ones(KNOBS["batch"], 6, dtype=torch.bool)),
          lambda: (*xy(), randn(KNOBS["batch"], 6) > 0))
different("nansum over holes against sum over holes", "a hole is NaN", lambda x, m: torch.nansum(torch.where(m, x, NAN), -1),
          lambda x, m: torch.where(m, x, NAN).sum(-1),
          lambda: (randn(KNOBS["batch"], 6), torch.ones(KNOBS["batch"], 6, dtype=torch.bool)),
          lambda: (randn(KNOBS["batch"], 6), randn(KNOBS["batch"], 6) > 0))
same("isnan as an inequality with itself", "x != x is what isnan means", lambda x: torch.where(torch.isnan(x), 0.5, x),
     lambda x: torch.where(x != x, 0.5, x))
same("isfinite as a difference that is zero", "inf − inf is NaN", lambda x: torch.isfinite(x).float(), lambda x: ((x - x) == 0).float())
same("isfinite as a magnitude below infinity", "NaN is not below", lambda x: torch.where(torch.isfinite(x), x, -1.0),
     lambda x: torch.where(x.abs() < INF, x, -1.0))
same("nan_to_num that leaves infinities", "posinf=inf, neginf=-inf", lambda x: torch.nan_to_num(x, 0.0, INF, -INF),
     lambda x: torch.where(torch.isnan(x), torch.zeros_like(x), x))
same("nanmean as masked mean", "sum of the numbers over how many there are", lambda x, m: torch.nanmean(torch.where(m, x, NAN), -1),
     lambda x, m: torch.where(m & (x == x), x, 0.0).sum(-1) / (m & (x == x)).sum(-1), scores_and_mask)
same("nansum as a sum of the unmasked", "holes count as zero", lambda x, m: torch.nansum(torch.where(m, x, NAN), -1),
     lambda x, m: x.masked_fill(~m | x.isnan(), 0.0).sum(-1), scores_and_mask)
same("relu as where", "x > 0 is false for NaN, relu(NaN) is NaN", lambda x: F.relu(x), lambda x: torch.where(x > 0, x, 0.0), x, "x is not NaN")
same("the smaller by minimum or by where", "a comparison against minimum", lambda x, y: torch.minimum(x, y), lambda x, y: torch.where(x < y, x, y),
     xy, "no NaN in x or y")

# ---- domains -------------------------------------------------------------------------------------------------------

different("sqrt(x) above y, or not at most y", "sqrt of a negative number is NaN: neither above nor at most", lambda x, y: torch.sqrt(x) > y,
          lambda x, y: ~(torch.sqrt(x) <= y), xy)
same("sqrt(x) above y where the example is positive", "for x < 0 neither holds", lambda x, y: (torch.sqrt(x) > y).float(),
     lambda x, y: 1 - (torch.sqrt(x) <= y).float(), two_positive, "x ≥ 0, which the report lists")
same("x above y, or not at most y", "no NaN comes in", lambda x, y: (x > y).float(), lambda x, y: 1 - (x <= y).float(), xy, "no NaN in x or y")
different("square root kept where it is a number", "where(isnan(√x), 0, √x) against √|x|",
          lambda x: torch.where(torch.isnan(torch.sqrt(x)), 0.0, torch.sqrt(x)), lambda x: torch.sqrt(x.abs()), positive, x)
same("square root kept where it is a number, or of what is clamped", "√ of negatives is NaN, made 0, as NaN itself",
     lambda x: torch.where(torch.isnan(torch.sqrt(x)), 0.0, torch.sqrt(x)),
     lambda x: torch.nan_to_num(torch.sqrt(x.clamp(min=0)), nan=0.0, posinf=INF))
same("log of a product", "log xy = log x + log y", lambda x, y: torch.log(x * y), lambda x, y: torch.log(x) + torch.log(y), two_positive,
     "x > 0 and y > 0")
same("a root squared", "(√x)² = x", lambda x: torch.sqrt(x) ** 2 + 1, lambda x: x + 1, positive, "x ≥ 0")
different("a square's root without the absolute value", "√(x²) = |x|", lambda x: torch.sqrt(x * x), lambda x: x * 1.0, positive, x)
same("a square's root", "√(x²) = |x|", lambda x: torch.sqrt(x * x), lambda x: x.abs())
same("a cube through logarithms", "exp(3·log x)", lambda x: torch.exp(3 * torch.log(x)), lambda x: x**3, positive, "x > 0")
different("a cube root of signs and one made a number", "x^(1/3) of a negative is NaN, made 0", lambda x: x.sign() * x.abs() ** (1 / 3),
          lambda x: torch.nan_to_num(x ** (1 / 3)), positive, x)
same("cosine of the arc cosine", "cos(acos x) = x", lambda x: torch.cos(torch.acos(x)) * 2, lambda x: x * 2, positive, "−1 ≤ x ≤ 1")
different("arc cosine clamped before or made a number after", "acos of −1.5 is π or 0", lambda x: torch.acos(x.clamp(-1, 1)),
          lambda x: torch.nan_to_num(torch.acos(x)), positive, of([[-1.5, 0.5, 1.5]]))
different("a logit with and without eps", "p below 1e-2 is clamped", lambda p: torch.logit(p, eps=1e-2), lambda p: torch.log(p / (1 - p)), positive,
          of([[0.001, 0.5, 0.999]]))
same("a logit by hand", "log p − log(1 − p)", lambda p: torch.logit(p), lambda p: torch.log(p) - torch.log1p(-p), positive, "0 < p < 1")
same("x over itself", "one where x is not zero", lambda x: x / x, lambda x: torch.ones_like(x), x, "x ≠ 0")
same("division guarded inside or outside", "where the divisor is zero, nothing of it is kept",
     lambda x, y: torch.where(x == 0, 0.0, y / torch.where(x == 0, 1.0, x)), lambda x, y: torch.where(x == 0, 0.0, y / x), xy)
different("division guarded by nan_to_num", "1/0 is made the largest float, not zero", lambda x, y: torch.where(x == 0, 0.0, y / x),
          lambda x, y: torch.nan_to_num(y / x), xy, of([[0.0, 1.0, 0.0]], [[1.0, 1.0, -2.0]]))
different("masked mean of an empty row", "0 or, on purpose, −1", lambda x, m: (x * m).sum(-1) / m.sum(-1).clamp(min=1),
          lambda x, m: torch.nan_to_num((x * m).sum(-1) / m.sum(-1), nan=-1.0), scores_and_mask,
          lambda: (randn(2, 3), torch.tensor([[True, False, True], [False, False, False]])))
same("masked mean with floor 1 or 1e-9", "a count is zero or at least one; zero over either is zero",
     lambda x, m: (x * m).sum(-1) / m.sum(-1).clamp(min=1), lambda x, m: (x * m).sum(-1) / m.sum(-1).float().clamp(min=1e-9), scores_and_mask)
different("normalize with another floor", "norms are floored at 1e-12 or 1e-6", lambda x: F.normalize(x, dim=-1),
          lambda x: x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6), x, lambda: (randn(2, 6) * 1e-9,))
different("entropy with a floor below the example", "probabilities below 1 in 100", lambda p: -torch.xlogy(p, p).sum(-1),
          lambda p: -torch.xlogy(p, p.clamp(min=0.01)).sum(-1), positive, of([[0.999, 0.001, 0.0]]))
same("entropy of positive probabilities", "xlogy(p, p) = p log p", lambda p: -torch.xlogy(p, p).sum(-1), lambda p: -(p * torch.log(p)).sum(-1),
     positive, "p > 0")
different("sign against where", "sign(0) is 0", lambda x: torch.sign(x), lambda x: torch.where(x >= 0, 1.0, -1.0), x, of([[0.0, 1.0, -1.0]]))
different("round against floor of a half more", "torch rounds halves to even", lambda x: torch.round(x), lambda x: torch.floor(x + 0.5), x,
          of([[0.5, 1.5, 2.5, -0.5]]))
different("one-hot of the argmax against the maximal", "two equal maxima", lambda x: F.one_hot(x.argmax(-1), 6).float(),
          lambda x: (x == x.amax(-1, keepdim=True)).float(), x, of([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]))

# ---- least floats and masks ----------------------------------------------------------------------------------------

TINY, LEAST = torch.finfo(torch.float32).tiny, torch.finfo(torch.float32).min

different("numbers below −65504 zeroed", "finite in float32", lambda x: torch.where(x < -65504, 0.0, x), lambda x: x * 1.0, x,
          of([[-1e5, 1.0, 2.0]]))
different("a clamp to half's range", "100000 is finite in float32", lambda x: x.clamp(-65504, 65504) * 2, lambda x: x * 2, x, of([[1e5, -1e6, 0.0]]))
different("denormals flushed", "numbers below 1.2e-38 are zeroed", lambda x: torch.where(x.abs() < TINY, 0.0, x).sign(), lambda x: x.sign(), x,
          of([[1e-39, -1e-40, 1.0]]))
different("a running maximum that begins at −10000", "finite numbers below it", lambda x: torch.cat([torch.full_like(x[:, :1], -1e4), x], 1).amax(-1),
          lambda x: x.amax(-1), x, of([[-2e4, -3e4]]))
same("a running maximum that begins at −∞", "−∞ is below everything", lambda x: torch.cat([torch.full_like(x[:, :1], -INF), x], 1).amax(-1),
     lambda x: x.amax(-1))
different("masked maximum with zeros", "all unmasked are negative", lambda x, m: x.masked_fill(~m, 0.0).amax(-1),
          lambda x, m: x.masked_fill(~m, -INF).amax(-1),
          lambda: (randn(KNOBS["batch"], 6).abs(), bits()[0].bool()), lambda: (-1 - uniform(1, 3), torch.tensor([[True, True, False]])))
same("masked maximum with the least float", "the first is never masked, and no float is less",
     lambda x, m: torch.cat([x[:, :1], x[:, 1:].masked_fill(~m[:, 1:], LEAST)], 1).amax(-1),
     lambda x, m: torch.cat([x[:, :1], x[:, 1:].masked_fill(~m[:, 1:], -INF)], 1).amax(-1), scores_and_mask, "x is finite")
same("softmax masked by −1e9 or −∞", "exp(−1e9) is zero", lambda x, m: x.masked_fill(~m, -1e9).softmax(-1),
     lambda x, m: x.masked_fill(~m, -INF).softmax(-1), scores_and_mask, "−1e9 read as −∞, each row has one unmasked")
different("softmax masked by −1e9 or −∞, and made zero where it is NaN", "a row without any: uniform against zeros",
          lambda x, m: torch.nan_to_num(x.masked_fill(~m, -1e9).softmax(-1)), lambda x, m: torch.nan_to_num(x.masked_fill(~m, -INF).softmax(-1)),
          scores_and_mask, lambda: (randn(2, 3), torch.tensor([[True, False, True], [False, False, False]])))
different("softmax masked by −10", "e^−10 is not nothing", lambda x, m: (x - 10 * (~m).float()).softmax(-1),
          lambda x, m: x.masked_fill(~m, -INF).softmax(-1), lambda: (randn(KNOBS["batch"], 6), torch.ones(KNOBS["batch"], 6, dtype=torch.bool)),
          scores_and_mask)
same("softmax with and without its maximum", "a shift cancels", lambda x: torch.softmax(x, -1), lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True),
     x, "exp does not overflow")

# ---- casts and wrap-around -----------------------------------------------------------------------------------------

different("ids through uint8", "300 becomes 44", lambda i: i.to(torch.uint8).to(torch.int64), lambda i: i + 0, ids, lambda: (torch.tensor([[300, 5]]),))
same("ids through uint8, or their lowest byte", "a cast to uint8 is modulo 256", lambda i: i.to(torch.uint8).to(torch.int64), lambda i: i & 255,
     lambda: (integers(-600, 600, KNOBS["batch"], 6),))
different("hashes through uint32", "negative ones wrap", lambda i: i.to(torch.uint32).to(torch.int64), lambda i: i + 0,
          lambda: (integers(-50, 50, KNOBS["batch"], 6),))
same("hashes through uint32, or their lowest 32 bits", "modulo 2^32", lambda i: i.to(torch.uint32).to(torch.int64), lambda i: i & 0xFFFFFFFF,
     lambda: (integers(-2**40, 2**40, KNOBS["batch"], 6),))
different("hashes through uint64 into float", "−1 becomes 1.8e19", lambda i: i.to(torch.uint64).to(torch.float64), lambda i: i.to(torch.float64),
          offsets, lambda: (torch.tensor([[-1, 3]]),))
different("brightness added in bytes", "200 + 100 wraps to 44", lambda a, b: (a + b).float(), lambda a, b: a.float() + b.float(), pixels,
          of([[200, 1]], [[100, 1]], dtype=torch.uint8))
different("frames averaged in bytes", "the sum wraps", lambda a, b: ((a + b) // 2).int(), lambda a, b: (a.int() + b.int()) // 2, pixels,
          of([[200, 1]], [[100, 1]], dtype=torch.uint8))
different("distance of bytes", "3 − 5 is 254 in bytes", lambda a, b: (a - b).abs().int(), lambda a, b: (a.int() - b.int()).abs(), pixels)
same("distance of bytes by maximum and minimum", "the larger minus the smaller never wraps", lambda a, b: (torch.maximum(a, b) - torch.minimum(a, b)).int(),
     lambda a, b: (a.int() - b.int()).abs(), pixels)
different("a bucket by a product in int32", "ids of a billion overflow", lambda i: (i.int() * 31).long() % 97, lambda i: i * 31 % 97,
          lambda: (integers(0, 2**31 - 1, KNOBS["batch"], 6),))
different("truncated or floored to int", "−0.5 gives 0 or −1", lambda x: x.to(torch.int32), lambda x: torch.floor(x).to(torch.int32), positive, x)
same("a cast to int truncates", "trunc before it changes nothing", lambda x: x.to(torch.int64), lambda x: torch.trunc(x).to(torch.int64), lambda: (x()[0] * 9,),
     "x fits into int64")
different("truth through int", "0.5 is true, and zero as an int", lambda x: x.bool().float(), lambda x: (x.int() != 0).float(), lambda: (x()[0] + 9,), x)
same("truth is being unequal to zero", "bool(x) is x ≠ 0", lambda x: x.bool().float(), lambda x: (x != 0).float())

# ---- integers ------------------------------------------------------------------------------------------------------

different("segment ids squared", "0 and 1 are their own squares", lambda i: i * i, lambda i: i + 0, few, ids, FLAGS)
different("ids clamped at one", "0 and 1 stay", lambda i: i.clamp(max=1), lambda i: i + 0, few, ids, FLAGS)
different("a flag flipped by xor or by subtraction", "2 ^ 1 is 3, 1 − 2 is −1", lambda i: i ^ 1, lambda i: 1 - i, few, ids)
different("a flag as its lowest bit", "2 & 1 is 0", lambda i: i & 1, lambda i: i.clamp(0, 1), few, ids, FLAGS)
same("an additive mask by product or by where", "(1 − m)·−10000", lambda m: (1.0 - m.float()) * -10000.0, lambda m: torch.where(m, 0.0, -10000.0),
     lambda: (bits()[0].bool(),))
different("halved by shift or by truncating", "−3 gives −2 or −1", lambda i: i >> 1, lambda i: torch.div(i, 2, rounding_mode="trunc"), offsets,
          lambda: (torch.tensor([[-3, 5]]),))
same("halved by shift or by floor", "an arithmetic shift floors", lambda i: i >> 1, lambda i: i // 2, lambda: (integers(-50, 50, KNOBS["batch"], 6),))
different("remainder against fmod", "−3 mod 5 is 2 or −3", lambda i: torch.remainder(i, 5), lambda i: torch.fmod(i, 5), offsets,
          lambda: (torch.tensor([[-3, 5]]),))
same("remainder by floor division", "i − 5·⌊i/5⌋", lambda i: torch.remainder(i, 5), lambda i: i - 5 * torch.div(i, 5, rounding_mode="floor"),
     lambda: (integers(-50, 50, KNOBS["batch"], 6),))

# ---- negative indices ----------------------------------------------------------------------------------------------


def columns():
    return (randn(KNOBS["batch"], 6), torch.tensor([4, 1]))


def last_columns():
    return (randn(KNOBS["batch"], 6), torch.tensor([-1, 1]))


def hit(x, i):
    return (torch.arange(x.shape[1])[:, None] == i).any(-1)


different("index_fill against a comparison of positions", "index_fill takes −1 for the last", lambda x, i: x.index_fill(1, i, 0.0),
          lambda x, i: torch.where(hit(x, i), 0.0, x), last_columns)
different("index_fill of columns wrapped at five of six", "the last column is never filled, and 5 fills the first",
          lambda x, i: x.index_fill(1, i, 0.0), lambda x, i: x.index_fill(1, i % 5, 0.0), columns,
          lambda: (randn(3, 6), torch.tensor([5, 1])))
same("index_fill against a comparison of wrapped positions", "−1 is the last", lambda x, i: x.index_fill(1, i, 0.0),
     lambda x, i: torch.where(hit(x, i % x.shape[1]), 0.0, x), last_columns, "−6 ≤ i < 6, as the fill demands")
same("indexing with what is wrapped", "−1 is the last", lambda x, i: x[:, i] * 2, lambda x, i: x[:, i % 6] * 2, last_columns, "−6 ≤ i < 6")
different("indexing with what is clamped", "−1 is the last or the first", lambda x, i: x[:, i] * 2, lambda x, i: x[:, i.clamp(min=0)] * 2, last_columns)
same("a column picked by index or by one-hot", "ids that one_hot takes", lambda x, i: x[:, i], lambda x, i: x @ F.one_hot(i, 6).float().t(), columns,
     "0 ≤ i < 6")


def labelled():
    """The last one is to be ignored."""
    y = torch.arange(KNOBS["batch"] + 1) % 6
    y[-1] = -100
    return (randn(KNOBS["batch"] + 1, 6), y)


def ignored():
    return (randn(3, 6), torch.tensor([1, -100, 2]))


def gathered(x, y):
    return -x.log_softmax(-1).gather(1, y.clamp(min=0)[:, None]).mean()


def gathered_masked(x, y):
    kept = y != -100
    lost = -x.log_softmax(-1).gather(1, y.clamp(min=0)[:, None])[:, 0]
    return (lost * kept).sum() / kept.sum()


different("cross entropy and a gather that ignores nothing", "−100 is left out by the one and clamped by the other",
          lambda x, y: F.cross_entropy(x, y), gathered, ignored)
same("cross entropy and a gather with a mask", "−100 is left out by both", lambda x, y: F.cross_entropy(x, y), gathered_masked, labelled,
     "labels are −100 or in 0 … 5")

# ---- sizes ---------------------------------------------------------------------------------------------------------


def sequence(length):
    return lambda: (randn(KNOBS["batch"], length, 4),)


parts("a slice longer than the example", "cut at 16", lambda x: x[:, :16] * 2, lambda x: x * 2,
      lambda: (randn(3, 20, 4),), sequence(6))
parts("positions clamped at eight", "the ninth position and the next are one", lambda x: x.sum(-1) + torch.arange(x.shape[1]).clamp(max=8),
      lambda x: x.sum(-1) + torch.arange(x.shape[1]), lambda: (randn(3, 12, 4),), sequence(6))
parts("the mean of the first ten", "longer sequences are cut before the mean", lambda x: x[:, :10].mean(1), lambda x: x.mean(1),
      lambda: (randn(3, 14, 4),), sequence(6))
