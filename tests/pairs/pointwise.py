"""Softmax and its logarithm, and activations: operators and the formulas they stand for."""

import math

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, twins, vary

# 7: softmax and its logarithm


def softmax(x):
    return torch.softmax(x, dim=-1)


def softmax_unshifted(x, axis=-1):
    weights = torch.exp(x)
    return weights / weights.sum(axis, keepdim=True)


def softmax_shifted(x):
    weights = torch.exp(x - x.amax(-1, keepdim=True))
    return weights / weights.sum(-1, keepdim=True)


def softmax_shifted_in_the_sum_only(x):
    shifted = x - x.amax(-1, keepdim=True)
    return torch.exp(x) / torch.exp(shifted).sum(-1, keepdim=True)


def softmax_shifted_over_wrong_axis(x):
    weights = torch.exp(x - x.amax(0, keepdim=True))
    return weights / weights.sum(-1, keepdim=True)


def softmax_by_logarithm(x):
    return torch.exp(x - torch.logsumexp(x, -1, keepdim=True))


def softmax_base_two(x, base=2.0):
    """As kernels write it: exp(x) = 2^(x log2 e)."""
    weights = torch.exp2((x - x.amax(-1, keepdim=True)) * (1 / math.log(base)))
    return weights / weights.sum(-1, keepdim=True)


def log_softmax(x):
    return torch.log_softmax(x, dim=-1)


def minus_logsumexp(x, axis=-1):
    return x - torch.logsumexp(x, axis, keepdim=True)


def log_of_softmax(x):
    return torch.log(torch.softmax(x, dim=-1))


def log2_of_softmax(x):
    return torch.log2(torch.softmax(x, dim=-1))


def logsumexp(x):
    return torch.logsumexp(x, dim=-1)


def logsumexp_shifted(x):
    top = x.amax(-1)
    return top + torch.log(torch.exp(x - top[:, None]).sum(-1))


def logsumexp_shift_not_added_back(x):
    return torch.log(torch.exp(x - x.amax(-1, keepdim=True)).sum(-1))


# 8: activations and their formulas


def swiglu_separate(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def swiglu_fused(x, gate, up, down):
    both = F.linear(x, torch.cat((gate, up)))
    half = both.shape[-1] // 2
    return F.linear(both[..., :half] / (1 + torch.exp(-both[..., :half])) * both[..., half:], down)


def swiglu_gate_and_up_swapped(x, gate, up, down):
    both = F.linear(x, torch.cat((up, gate)))
    half = both.shape[-1] // 2
    return F.linear(both[..., :half] / (1 + torch.exp(-both[..., :half])) * both[..., half:], down)


def gelu_gated(x, gate, up, down):
    return F.linear(F.gelu(F.linear(x, gate)) * F.linear(x, up), down)


def silu(x):
    return F.silu(x)


def silu_by_sigmoid(x, slope=1.0):
    return x * torch.sigmoid(slope * x)


def silu_by_exponential(x, one=1.0):
    return x / (one + torch.exp(-x))


def silu_by_tanh(x, half=0.5):
    return half * x * (1 + torch.tanh(0.5 * x))


def gelu(x):
    return F.gelu(x)


def gelu_by_erf(x):
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def gelu_by_erf_unscaled(x):
    return x * 0.5 * (1.0 + torch.erf(x))


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def gelu_by_tanh(x, cubic=0.044715):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + cubic * torch.pow(x, 3.0))))


def gelu_by_sigmoid(x):
    """tanh(y) = 2 sigmoid(2y) − 1, with x factored out."""
    return x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x))


def gelu_quick(x):
    return x * torch.sigmoid(1.702 * x)


def softplus(x):
    return F.softplus(x)


def softplus_by_logarithm(x, sign=1.0):
    return torch.log(1 + torch.exp(sign * x))


def mish(x):
    return F.mish(x)


def mish_by_formula(x, one=1.0):
    return x * torch.tanh(torch.log(one + torch.exp(x)))


MATRIX = inputs((5, 7))
GATED = inputs((5, 7), (11, 7), (11, 7), (7, 11))

PAIRS = [
    Pair("softmax without the shift", 7, softmax, softmax_unshifted, MATRIX,
         twins(wrong_axis=vary(softmax_unshifted, axis=0))),
    Pair("softmax with the shift", 7, softmax, softmax_shifted, MATRIX,
         twins(shift_in_the_sum_only=softmax_shifted_in_the_sum_only,
               shift_over_wrong_axis=softmax_shifted_over_wrong_axis)),
    Pair("softmax with and without the shift", 7, softmax_shifted, softmax_unshifted, MATRIX,
         twins(wrong_axis=vary(softmax_unshifted, axis=0))),
    Pair("softmax by logsumexp", 7, softmax, softmax_by_logarithm, MATRIX,
         twins(shift_over_wrong_axis=softmax_shifted_over_wrong_axis)),
    Pair("softmax with base two", 7, softmax, softmax_base_two, MATRIX,
         twins(wrong_base=vary(softmax_base_two, base=10.0))),
    Pair("log softmax by logsumexp", 7, log_softmax, minus_logsumexp, MATRIX,
         twins(wrong_axis=vary(minus_logsumexp, axis=0))),
    Pair("log softmax by softmax", 7, log_softmax, log_of_softmax, MATRIX, twins(wrong_base=log2_of_softmax)),
    Pair("logsumexp with the shift", 7, logsumexp, logsumexp_shifted, MATRIX,
         twins(shift_not_added_back=logsumexp_shift_not_added_back)),
    Pair("SwiGLU, separate and fused", 8, swiglu_separate, swiglu_fused, GATED,
         twins(wrong_split_order=swiglu_gate_and_up_swapped, gelu_instead_of_silu=gelu_gated)),
    Pair("SiLU by sigmoid", 8, silu, silu_by_sigmoid, MATRIX, twins(slope_off=vary(silu_by_sigmoid, slope=1.702))),
    Pair("SiLU by exponential", 8, silu, silu_by_exponential, MATRIX,
         twins(one_off=vary(silu_by_exponential, one=1.001))),
    Pair("SiLU by tanh", 8, silu, silu_by_tanh, MATRIX, twins(factor_forgotten=vary(silu_by_tanh, half=1.0))),
    Pair("GELU by erf", 8, gelu, gelu_by_erf, MATRIX,
         twins(tanh_instead_of_exact=gelu_by_tanh, root_of_two_forgotten=gelu_by_erf_unscaled)),
    Pair("tanh GELU by its formula", 8, gelu_tanh, gelu_by_tanh, MATRIX,
         twins(exact_instead_of_tanh=gelu_by_erf, cubic_term_off=vary(gelu_by_tanh, cubic=0.04715))),
    Pair("tanh GELU by sigmoid", 8, gelu_tanh, gelu_by_sigmoid, MATRIX, twins(quick_instead_of_tanh=gelu_quick)),
    Pair("softplus by its formula", 8, softplus, softplus_by_logarithm, MATRIX,
         twins(wrong_sign=vary(softplus_by_logarithm, sign=-1.0))),
    Pair("mish by its formula", 8, mish, mish_by_formula, MATRIX, twins(one_off=vary(mish_by_formula, one=1.001))),
]
