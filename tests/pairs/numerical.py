"""What numerical programs call, and the same by hand: densities, angles, places among sorted numbers, distances, rows
that are put in through a mask; transforms, filters and windows. Signals are [batch, time]."""

import math

import torch
from torch.distributions import Beta, Dirichlet, Gamma, Normal, StudentT, kl_divergence
from torch.nn import functional as F

from pairs.pair import Pair, inputs, integers, mask, positive, twins, vary

SIZE, HOP = 8, 4


def share(*shape):
    """Random numbers between 0.1 and 0.9."""
    return lambda generator: 0.1 + 0.8 * torch.rand(shape, generator=generator)


# 37: densities and special functions


def beta(a, b, x):
    return Beta(a, b, validate_args=False).log_prob(x)


def beta_by_hand(a, b, x, less=1, together=1):
    ends = torch.lgamma(a) + torch.lgamma(b) - together * torch.lgamma(a + b)
    return (a - less) * x.log() + (b - less) * torch.log1p(-x) - ends


def gamma(a, rate, x):
    return Gamma(a, rate, validate_args=False).log_prob(x)


def gamma_by_hand(a, rate, x, less=1):
    return a * rate.log() + (a - less) * x.log() - rate * x - torch.lgamma(a)


def student(degrees, x):
    return StudentT(degrees, validate_args=False).log_prob(x)


def student_by_hand(degrees, x, more=1):
    ends = torch.lgamma((degrees + more) / 2) - torch.lgamma(degrees / 2)
    return ends - (math.pi * degrees).log() / 2 - (degrees + 1) / 2 * torch.log1p(x**2 / degrees)


def dirichlets_apart(a, b):
    return kl_divergence(Dirichlet(a, validate_args=False), Dirichlet(b, validate_args=False))


def dirichlets_apart_by_hand(a, b, mean=torch.digamma):
    total = a.sum(-1, keepdim=True)
    ends = torch.lgamma(total[..., 0]) - torch.lgamma(b.sum(-1)) + (torch.lgamma(b) - torch.lgamma(a)).sum(-1)
    return ends + ((a - b) * (mean(a) - mean(total))).sum(-1)


def quantile(p):
    return Normal(0.0, 1.0, validate_args=False).icdf(p)


def quantile_by_hand(p, scale=2**0.5):
    return scale * torch.erfinv(2 * p - 1)


def angle(y, x):
    return torch.atan2(y, x)


def angle_of_complex(y, x):
    return torch.complex(x, y).angle()


def angle_by_cases(y, x, turn=math.pi):
    flat, steep = torch.atan(y / x), y.sign() * math.pi / 2
    behind = torch.where(y >= 0, flat + turn, flat - math.pi)
    return torch.where(x > 0, flat, torch.where(x < 0, behind, steep))


def power_mean(x, p):
    return x.clamp(min=1e-6).pow(p).mean(-1).pow(1 / p)


def power_mean_by_logarithms(x, p, low=1e-6):
    return torch.exp(torch.exp(p * x.clamp(min=low).log()).mean(-1).log() / p)


# 38: places among sorted numbers, distances, borders, rows put in through a mask

EDGES = torch.tensor([-1.0, -0.25, 0.5, 1.0])


def buckets(x):
    return torch.bucketize(x, EDGES.to(x), right=True)


def buckets_by_comparison(x):
    return (x[..., None] >= EDGES.to(x)).sum(-1)


def buckets_from_the_second_edge(x):
    return (x[..., None] >= EDGES.to(x)[1:]).sum(-1)


def inverse_cdf(weights, u):
    return torch.searchsorted(weights.softmax(-1).cumsum(-1), u)


def inverse_cdf_by_comparison(weights, u, axis=-1):
    return (weights.softmax(axis).cumsum(-1)[:, None] < u[..., None]).sum(-1)


def histogram(x):
    return torch.histc(x, 4, -1, 1)


def histogram_by_comparison(x, last=True):
    edges = [-1 + b / 2 for b in range(5)]
    inside = [(edges[b] <= x) & ((x <= 1) if last and b == 3 else (x < edges[b + 1])) for b in range(4)]
    return torch.stack(inside).flatten(1).sum(1).to(x)


def ends_counted_in_the_first(x):
    return torch.stack([((x > b / 2 - 1) & (x <= b / 2 - 0.5)) | ((b == 0) & (x <= -0.75)) for b in range(4)]
                       ).flatten(1).sum(1).to(x)


def shortened(weight):
    return torch.renorm(weight, 2, 0, 1.0)


def shortened_by_hand(weight, axis=1):
    length = weight.norm(dim=axis, keepdim=True)
    return torch.where(length > 1, weight / (length + 1e-7), weight)


def pairs_apart(x):
    return F.pdist(x)


def pairs_apart_by_index(x, order=2):
    one, other = torch.triu_indices(len(x), len(x), 1)
    return (x[one] - x[other]).norm(order, dim=-1)


def margins(x, target):
    return F.multi_margin_loss(x, target)


def margins_by_mask(x, target, own=0):
    short = (1 - x.gather(1, target[:, None]) + x).clamp(min=0)
    return torch.where(F.one_hot(target, x.shape[1]) > 0, own, short).sum(1).mean() / x.shape[1]


def bilinear(x, y, weight):
    return F.bilinear(x, y, weight)


def bilinear_by_einsum(x, y, weight, equation="bi,oij,bj->bo"):
    return torch.einsum(equation, x, weight, y)


def quarter_turn(x):
    return torch.rot90(x, 1, (-2, -1))


def quarter_turn_by_hand(x, axis=-1):
    return x.flip(axis).transpose(-2, -1)


def overlaps(x):
    return F.fold(F.unfold(x, 3, padding=1), x.shape[-2:], 3, padding=1)


def overlaps_counted(x, size=3):
    ones = torch.ones(1, 1, *x.shape[-2:]).to(x)
    return x * F.conv2d(ones, torch.ones(1, 1, size, size).to(x), padding=size // 2)


def put_in(x, kept, rows):
    """As many rows as the mask has places; those of which there are more are left."""
    return x.masked_scatter(kept[..., None], rows)


def put_in_zeros(x, kept, rows, order=()):
    wide = kept[..., None].expand_as(x)
    return torch.where(wide, torch.zeros_like(x).masked_scatter(wide, rows.flip(order)), x)


# 39: transforms, filters and windows


def spectrum(x):
    return torch.view_as_real(torch.fft.fft(x))


def spectrum_of_halves(x, turned=-1):
    """The second half of a real spectrum is the first, turned round and conjugated."""
    half = torch.fft.rfft(x)
    rest = half[..., 1 : (x.shape[-1] + 1) // 2].flip(-1)
    return torch.view_as_real(torch.cat([half, torch.complex(rest.real, turned * rest.imag)], -1))


def filtered(x, taps):
    size = 2 * x.shape[-1]
    return torch.fft.irfft(torch.fft.rfft(x, n=size) * torch.fft.rfft(taps, n=size), n=size)[..., : x.shape[-1]]


def filtered_directly(x, taps, before=None):
    before = x.shape[-1] - 1 if before is None else before
    return F.conv1d(F.pad(x[:, None], (before, x.shape[-1] - 1 - before)), taps.flip(-1)[None, None])[:, 0]


def energy(x):
    return (torch.fft.fft(x).abs() ** 2).mean(-1)


def energy_in_time(x, order=2):
    return (x**order).sum(-1)


def power_by_frames(x):
    window = torch.hann_window(SIZE, dtype=x.dtype)
    return torch.stft(x, SIZE, HOP, window=window, center=False, return_complex=True).abs() ** 2


def power_by_transforms(x, periodic=True):
    window = torch.hann_window(SIZE, periodic, dtype=x.dtype)
    found = torch.fft.rfft(x.unfold(-1, SIZE, HOP) * window)
    return (found.real**2 + found.imag**2).transpose(-2, -1)


def slope(x):
    waves = 1j * torch.fft.fftfreq(x.shape[-1], 1 / x.shape[-1])
    return torch.fft.ifft(waves * torch.fft.fft(x)).real


def slope_of_half(x, unit=1):
    """The highest frequency has no slope that is real."""
    size = x.shape[-1]
    waves = 1j * unit * torch.fft.rfftfreq(size, 1 / size)
    return torch.fft.irfft(waves * torch.fft.rfft(x), n=size)


PAIRS = [
    Pair("beta density", 37, beta, beta_by_hand, inputs(positive(5), positive(5), share(5)),
         twins(exponents_off_by_one=vary(beta_by_hand, less=0), normalisation_dropped=vary(beta_by_hand, together=0))),
    Pair("gamma density", 37, gamma, gamma_by_hand, inputs(positive(5), positive(5), positive(5)),
         twins(exponent_off_by_one=vary(gamma_by_hand, less=0))),
    Pair("student density", 37, student, student_by_hand, inputs(positive(5), (5,)),
         twins(degrees_off_by_one=vary(student_by_hand, more=2))),
    Pair("dirichlets apart", 37, dirichlets_apart, dirichlets_apart_by_hand, inputs(positive(3, 4), positive(3, 4)),
         twins(logarithm_instead_of_digamma=vary(dirichlets_apart_by_hand, mean=torch.log))),
    Pair("normal quantile", 37, quantile, quantile_by_hand, inputs(share(7)),
         twins(root_of_two_forgotten=vary(quantile_by_hand, scale=1.0))),
    Pair("angle by cases", 37, angle, angle_by_cases, inputs((3, 4), (3, 4)),
         twins(half_a_turn=vary(angle_by_cases, turn=math.pi / 2))),
    Pair("angle of a complex number", 37, angle_of_complex, angle, inputs((3, 4), (3, 4)),
         twins(sides_swapped=lambda y, x: torch.atan2(x, y))),
    Pair("power mean by logarithms", 37, power_mean, power_mean_by_logarithms, inputs((3, 7), positive(1)),
         twins(another_least=vary(power_mean_by_logarithms, low=1e-2))),
    Pair("buckets", 38, buckets, buckets_by_comparison, inputs((3, 4)),
         twins(first_edge_dropped=buckets_from_the_second_edge)),
    Pair("inverse of a distribution", 38, inverse_cdf, inverse_cdf_by_comparison, inputs((3, 5), share(3, 6)),
         twins(wrong_axis=vary(inverse_cdf_by_comparison, axis=0))),
    Pair("histogram", 38, histogram, histogram_by_comparison, inputs((4, 9), scale=0.7),
         twins(a_lower_end=ends_counted_in_the_first)),
    Pair("rows shortened", 38, shortened, shortened_by_hand, inputs((5, 3)),
         twins(wrong_axis=vary(shortened_by_hand, axis=0))),
    Pair("pairs of rows apart", 38, pairs_apart, pairs_apart_by_index, inputs((5, 3)),
         twins(sums_instead_of_roots=vary(pairs_apart_by_index, order=1))),
    Pair("margins", 38, margins, margins_by_mask, inputs((5, 4), integers(4, 5)),
         twins(own_class_counted=vary(margins_by_mask, own=1))),
    Pair("bilinear form", 38, bilinear, bilinear_by_einsum, inputs((5, 3), (5, 3), (2, 3, 3)),
         twins(sides_swapped=vary(bilinear_by_einsum, equation="bi,oji,bj->bo"))),
    Pair("a quarter turn", 38, quarter_turn, quarter_turn_by_hand, inputs((2, 3, 4)),
         twins(the_other_way=vary(quarter_turn_by_hand, axis=-2))),
    Pair("patches put back", 38, overlaps, overlaps_counted, inputs((1, 2, 5, 6)),
         twins(larger_patches=vary(overlaps_counted, size=5))),
    Pair("rows put in through a mask", 38, put_in, put_in_zeros, inputs((6, 3), mask(6), (6, 3)),
         twins(last_row_first=vary(put_in_zeros, order=(0,)))),
    Pair("both halves of a spectrum", 39, spectrum, spectrum_of_halves, inputs((3, 8)),
         twins(not_conjugated=vary(spectrum_of_halves, turned=1))),
    Pair("filter by spectra", 39, filtered, filtered_directly, inputs((2, 6), (6,)),
         twins(centred=vary(filtered_directly, before=3))),
    Pair("energy", 39, energy, energy_in_time, inputs((3, 8)), twins(cubes=vary(energy_in_time, order=3))),
    Pair("power by frames", 39, power_by_frames, power_by_transforms, inputs((2, 20)),
         twins(window_not_periodic=vary(power_by_transforms, periodic=False))),
    Pair("slope by waves", 39, slope, slope_of_half, inputs((3, 8)),
         twins(angles_in_radians=vary(slope_of_half, unit=2 * math.pi))),
]
