"""Normalisations: root mean square, layer and group norms, and where their weights and residuals go."""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, twins, vary

# 2: root mean square norm


def rms_norm(x, w, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w


def rms_by_division(x, w, eps=1e-5):
    return w * (x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps))


def rms_by_torch(x, w, eps=1e-5):
    return F.rms_norm(x, x.shape[-1:], w, eps)


def rms_by_sum(x, w, eps=1e-5):
    """x √n / √(Σ x² + n eps)."""
    n = x.shape[-1]
    return x * n**0.5 * (x.square().sum(-1, keepdim=True) + n * eps) ** -0.5 * w


def rms_by_vector_norm(x, w, eps=1e-5):
    """‖x‖² / n is the mean square."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x * w / torch.sqrt(length**2 / x.shape[-1] + eps)


def rms_eps_outside_root(x, w):
    return w * (x / (torch.sqrt((x * x).mean(-1, keepdim=True)) + 1e-5))


def rms_over_wrong_axis(x, w):
    return w * (x / torch.sqrt((x * x).mean(0, keepdim=True) + 1e-5))


def rms_without_weight(x, w):
    return F.rms_norm(x, x.shape[-1:], None, 1e-5)


def rms_divided_once_more(x, w):
    n = x.shape[-1]
    return x * n**0.5 * (x.square().sum(-1, keepdim=True) + 1e-5) ** -0.5 * w


def rms_of_sum(x, w):
    return x * w / torch.sqrt(torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 + 1e-5)


def norm_then_linear(x, w, matrix):
    return F.linear(rms_norm(x, w), matrix)


def weight_folded(x, w, matrix):
    return F.linear(rms_norm(x, torch.ones_like(w)), matrix * w)


def weight_folded_upside_down(x, w, matrix):
    return F.linear(rms_norm(x, torch.ones_like(w)), matrix / w)


def weight_dropped(x, w, matrix):
    return F.linear(rms_norm(x, torch.ones_like(w)), matrix)


def scaled_after_linear(x, w, matrix, eps=1e-5):
    """The root is one number for each row, so it may be applied after the linear."""
    return F.linear(x, matrix * w) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def rms_one_plus(x, w):
    """Gemma multiplies by 1 + w."""
    return rms_norm(x, 1.0 + w)


def rms_plus_product(x, w):
    normed = rms_norm(x, torch.ones_like(w))
    return normed + normed * w


def add_then_norm(x, residual, w, matrix):
    h = x + residual
    return h + F.linear(rms_norm(h, w), matrix)


def fused_add_norm(x, residual, w, eps):
    h = x + residual
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * w, h


def add_fused_into_norm(x, residual, w, matrix, eps=1e-5):
    normed, stream = fused_add_norm(x, residual, w, eps)
    return F.linear(normed, matrix) + stream


def stream_not_updated(x, residual, w, matrix):
    normed, _ = fused_add_norm(x, residual, w, 1e-5)
    return F.linear(normed, matrix) + residual


def residual_after_norm(x, w, matrix):
    """Post-norm: the residual is the normalised stream."""
    h = rms_norm(x, w)
    return h + F.linear(h, matrix)


def residual_in_one_matrix(x, w, matrix):
    return F.linear(rms_by_division(x, w), matrix + torch.eye(11, dtype=x.dtype))


def residual_before_norm(x, w, matrix):
    return x + F.linear(rms_by_division(x, w), matrix)


# 3: layer norm


def layer_norm(x, w, b, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + eps) * w + b


def layer_norm_by_torch(x, w, b, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], w, b, eps)


def layer_norm_by_moments(x, w, b, eps=1e-5):
    """The variance as E[x²] − E[x]²."""
    mean = x.mean(-1, keepdim=True)
    variance = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) * torch.rsqrt(variance + eps) * w + b


def layer_norm_by_variance(x, w, b, unbiased=False):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, unbiased=unbiased, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-5) * w + b


def layer_norm_affine(x, w, b):
    """One multiplication and one addition for each element, as kernels do."""
    mean = x.mean(-1, keepdim=True)
    root = torch.rsqrt((x - mean).square().mean(-1, keepdim=True) + 1e-5)
    return x * (root * w) + (b - mean * root * w)


def layer_norm_affine_unscaled_mean(x, w, b):
    mean = x.mean(-1, keepdim=True)
    root = torch.rsqrt((x - mean).square().mean(-1, keepdim=True) + 1e-5)
    return x * (root * w) + (b - mean * root)


def layer_norm_without_bias(x, w, b):
    return F.layer_norm(x, x.shape[-1:], w, None, 1e-5)


def layer_norm_not_centred(x, w, b):
    mean = x.mean(-1, keepdim=True)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) - mean.square() + 1e-5) * w + b


def second_moment_only(x, w, b):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * w + b


# 18: group norm

GROUPS = 3


def group_norm(x, w, b):
    """`x` [batch, 15, 7]: three groups of five channels."""
    return F.group_norm(x, GROUPS, w, b, 1e-5)


def group_norm_by_reshape(x, w, b, eps=1e-5):
    groups = x.reshape(x.shape[0], GROUPS, -1)
    centred = groups - groups.mean(-1, keepdim=True)
    normed = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
    return normed.view_as(x) * w[:, None] + b[:, None]


def group_norm_by_layer_norm(x, w, b):
    groups = x.reshape(x.shape[0], GROUPS, -1)
    return F.layer_norm(groups, groups.shape[-1:], eps=1e-5).view_as(x) * w[:, None] + b[:, None]


def interleaved_groups(x, w, b):
    """Channel c in group c mod 3, where it should be c div 5."""
    groups = x.view(x.shape[0], 5, GROUPS, -1).transpose(1, 2).flatten(2)
    normed = F.layer_norm(groups, groups.shape[-1:], eps=1e-5)
    return normed.view(x.shape[0], GROUPS, 5, -1).transpose(1, 2).reshape(x.shape) * w[:, None] + b[:, None]


def norm_of_every_channel(x, w, b):
    return F.layer_norm(x, x.shape[-1:], eps=1e-5) * w[:, None] + b[:, None]


RMS = inputs((5, 11), (11,), scale=0.1)
FOLD = inputs((5, 11), (11,), (7, 11), scale=0.1)
LAYER = inputs((5, 11), (11,), (11,), scale=0.1)
GROUP = inputs((2, 15, 7), (15,), (15,), scale=0.1)

PAIRS = [
    Pair("rms norm by division", 2, rms_norm, rms_by_division, RMS,
         twins(eps_off=vary(rms_by_division, eps=1e-6), eps_outside_root=rms_eps_outside_root,
               wrong_axis=rms_over_wrong_axis)),
    Pair("rms norm by torch", 2, rms_norm, rms_by_torch, RMS,
         twins(eps_off=vary(rms_by_torch, eps=1e-6), weight_dropped=rms_without_weight)),
    Pair("rms norm by sum", 2, rms_norm, rms_by_sum, RMS, twins(eps_not_multiplied=rms_divided_once_more)),
    Pair("rms norm by vector norm", 2, rms_norm, rms_by_vector_norm, RMS, twins(sum_instead_of_mean=rms_of_sum)),
    Pair("rms norm with 1 + weight", 2, rms_one_plus, rms_plus_product, RMS,
         twins(one_forgotten=lambda x, w: rms_norm(x, w))),
    Pair("rms norm, weight folded into the next linear", 2, norm_then_linear, weight_folded, FOLD,
         twins(weight_inverted=weight_folded_upside_down, weight_dropped=weight_dropped)),
    Pair("rms norm, root after the next linear", 2, norm_then_linear, scaled_after_linear, FOLD,
         twins(eps_off=vary(scaled_after_linear, eps=1e-6))),
    Pair("rms norm with the residual added inside", 2, add_then_norm, add_fused_into_norm,
         inputs((5, 11), (5, 11), (11,), (11, 11), scale=0.1),
         twins(residual_taken_before_the_addition=stream_not_updated, eps_off=vary(add_fused_into_norm, eps=1e-6))),
    Pair("residual after the norm", 2, residual_after_norm, residual_in_one_matrix,
         inputs((5, 11), (11,), (11, 11), scale=0.1), twins(residual_taken_before_the_norm=residual_before_norm)),
    Pair("layer norm by torch", 3, layer_norm, layer_norm_by_torch, LAYER,
         twins(eps_off=vary(layer_norm_by_torch, eps=1e-6), missing_bias=layer_norm_without_bias)),
    Pair("layer norm by moments", 3, layer_norm, layer_norm_by_moments, LAYER,
         twins(not_centred=layer_norm_not_centred, mean_not_subtracted_from_variance=second_moment_only)),
    Pair("layer norm, torch and moments", 3, layer_norm_by_torch, layer_norm_by_moments, LAYER,
         twins(eps_off=vary(layer_norm_by_moments, eps=1e-6))),
    Pair("layer norm by variance", 3, layer_norm, layer_norm_by_variance, LAYER,
         twins(unbiased_variance=vary(layer_norm_by_variance, unbiased=True))),
    Pair("layer norm as one multiplication and addition", 3, layer_norm_by_torch, layer_norm_affine, LAYER,
         twins(mean_not_scaled=layer_norm_affine_unscaled_mean)),
    Pair("group norm by reshape", 18, group_norm, group_norm_by_reshape, GROUP,
         twins(eps_off=vary(group_norm_by_reshape, eps=1e-6), wrong_group_order=interleaved_groups)),
    Pair("group norm by layer norm", 18, group_norm, group_norm_by_layer_norm, GROUP,
         twins(every_channel_its_own_group=norm_of_every_channel)),
]
