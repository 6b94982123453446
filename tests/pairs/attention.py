"""Attention: shared key and value heads, the fused operator and its three steps, key blocks merged online.

Queries are [batch, heads, time, size], keys and values [batch, key heads, source, size].
"""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, mask, twins, vary

KEY_HEADS, GROUP = 2, 3


def softmax_attention(q, k, v, scale=None, bias=None, cap=None):
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if cap is not None:
        scores = cap * torch.tanh(scores / cap)
    if bias is not None:
        scores = scores + bias
    return scores.softmax(-1) @ v


# 5: a key and value head shared by several query heads


def repeat_kv(x):
    """As Transformers does: head h of the result is head h div 3."""
    batch, heads, time, size = x.shape
    return x[:, :, None].expand(batch, heads, GROUP, time, size).reshape(batch, heads * GROUP, time, size)


def repeated_heads(q, k, v):
    return softmax_attention(q, repeat_kv(k), repeat_kv(v))


def repeat_interleaved_heads(q, k, v):
    return softmax_attention(q, k.repeat_interleave(GROUP, 1), v.repeat_interleave(GROUP, 1))


def tiled_heads(q, k, v):
    """Head h of the result is head h mod 2."""
    return softmax_attention(q, k.repeat(1, GROUP, 1, 1), v.repeat(1, GROUP, 1, 1))


def grouped_heads(q, k, v, factor=1.0):
    grouped = q.unflatten(1, (KEY_HEADS, GROUP))
    scores = torch.einsum("bkgtd,bksd->bkgts", grouped, k) * (factor * q.shape[-1] ** -0.5)
    return torch.einsum("bkgts,bksd->bkgtd", scores.softmax(-1), v).flatten(1, 2)


def grouped_heads_in_wrong_order(q, k, v):
    grouped = q.unflatten(1, (GROUP, KEY_HEADS))
    scores = torch.einsum("bgktd,bksd->bgkts", grouped, k) * q.shape[-1] ** -0.5
    return torch.einsum("bgkts,bksd->bgktd", scores.softmax(-1), v).flatten(1, 2)


def broadcast_heads(q, k, v):
    """Queries of one group against a key head of extent one, by broadcasting."""
    grouped = q.unflatten(1, (KEY_HEADS, GROUP))
    return softmax_attention(grouped, k.unsqueeze(2), v.unsqueeze(2)).flatten(1, 2)


def stacked_queries(q, k, v):
    """The queries of one group one after the other, as if they were more time."""
    stacked = q.reshape(q.shape[0], KEY_HEADS, -1, q.shape[-1])
    return softmax_attention(stacked, k, v).reshape(q.shape)


def stacked_queries_of_wrong_heads(q, k, v):
    stacked = q.unflatten(1, (GROUP, KEY_HEADS)).transpose(1, 2).flatten(2, 3)
    out = softmax_attention(stacked, k, v)
    return out.view(q.shape[0], KEY_HEADS, GROUP, *q.shape[2:]).flatten(1, 2)


# 6: the fused operator and its three steps


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def three_steps(q, k, v, scale=None):
    return softmax_attention(q, k, v, scale)


def softmax_over_queries(q, k, v):
    return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-2) @ v


def swapped_keys_and_values(q, k, v):
    return softmax_attention(q, v, k)


def scaled_queries(q, k, v):
    """The scale on the queries, before the matmul."""
    return (q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)).softmax(-1) @ v


def scaled_queries_by_size(q, k, v):
    return (q / q.shape[-1] @ k.transpose(-1, -2)).softmax(-1) @ v


def fused_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def causal_steps(q, k, v, diagonal=1):
    future = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(diagonal)
    return softmax_attention(q, k, v, bias=torch.zeros(future.shape, dtype=q.dtype).masked_fill(future, -torch.inf))


def causal_steps_aligned_right(q, k, v):
    return causal_steps(q, k, v, diagonal=1 + k.shape[-2] - q.shape[-2])


def fused_boolean_mask(q, k, v, kept):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=kept)


def boolean_mask_steps(q, k, v, kept):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.masked_fill(~kept, -torch.inf).softmax(-1) @ v


def inverted_mask(q, k, v, kept):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.masked_fill(kept, -torch.inf).softmax(-1) @ v


def zero_instead_of_infinity(q, k, v, kept):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.masked_fill(~kept, 0.0).softmax(-1) @ v


def fused_additive_mask(q, k, v, bias):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


def additive_mask_steps(q, k, v, bias):
    return softmax_attention(q, k, v, bias=bias)


def mask_added_before_scale(q, k, v, bias):
    return ((q @ k.transpose(-1, -2) + bias) * q.shape[-1] ** -0.5).softmax(-1) @ v


def fused_scale(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, scale=0.3)


def fused_grouped(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def capped(q, k, v, w):
    """Caps on scores and outputs, as Gemma 2 has them."""
    out = softmax_attention(q, k, v, cap=1.5)
    return 0.7 * torch.tanh(F.linear(out, w) / 0.7)


def capped_by_factors(q, k, v, w, cap=1.5, output_cap=0.7):
    scores = torch.tanh(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 / cap)) * cap
    out = F.linear(scores.softmax(-1) @ v, w)
    return torch.tanh(out * (1 / output_cap)) * output_cap


def capped_on_scores_only(q, k, v, w):
    scores = torch.tanh(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 / 1.5)) * 1.5
    return F.linear(scores.softmax(-1) @ v, w)


def capped_on_output_only(q, k, v, w):
    return 0.7 * torch.tanh(F.linear(softmax_attention(q, k, v), w) / 0.7)


# 11: two key blocks merged by their maxima and sums, and one block

CUT = 4


def block(q, k, v):
    """Unnormalised output, maximum and sum of one block of keys."""
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    top = scores.amax(-1, keepdim=True)
    weights = torch.exp(scores - top)
    return weights @ v, top, weights.sum(-1, keepdim=True)


def merged_blocks(q, k, v, cut=CUT):
    first, first_top, first_sum = block(q, k[..., :CUT, :], v[..., :CUT, :])
    second, second_top, second_sum = block(q, k[..., cut:, :], v[..., cut:, :])
    top = torch.maximum(first_top, second_top)
    first_scale, second_scale = torch.exp(first_top - top), torch.exp(second_top - top)
    return (first * first_scale + second * second_scale) / (first_sum * first_scale + second_sum * second_scale)


def merged_without_rescaling(q, k, v):
    first, _, first_sum = block(q, k[..., :CUT, :], v[..., :CUT, :])
    second, _, second_sum = block(q, k[..., CUT:, :], v[..., CUT:, :])
    return (first + second) / (first_sum + second_sum)


def merged_with_one_sum_unscaled(q, k, v):
    first, first_top, first_sum = block(q, k[..., :CUT, :], v[..., :CUT, :])
    second, second_top, second_sum = block(q, k[..., CUT:, :], v[..., CUT:, :])
    top = torch.maximum(first_top, second_top)
    first_scale, second_scale = torch.exp(first_top - top), torch.exp(second_top - top)
    return (first * first_scale + second * second_scale) / (first_sum + second_sum * second_scale)


def normalised_block(q, k, v):
    """Output and logarithm of the sum, as attention kernels return them."""
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.softmax(-1) @ v, torch.logsumexp(scores, -1, keepdim=True)


def merged_by_logarithms(q, k, v):
    first, first_log = normalised_block(q, k[..., :CUT, :], v[..., :CUT, :])
    second, second_log = normalised_block(q, k[..., CUT:, :], v[..., CUT:, :])
    total = torch.logaddexp(first_log, second_log)
    return first * torch.exp(first_log - total) + second * torch.exp(second_log - total)


def merged_by_sigmoid(q, k, v, sign=1.0):
    first, first_log = normalised_block(q, k[..., :CUT, :], v[..., :CUT, :])
    second, second_log = normalised_block(q, k[..., CUT:, :], v[..., CUT:, :])
    share = torch.sigmoid(sign * (first_log - second_log))
    return share * first + (1 - share) * second


def merged_by_mean(q, k, v):
    first, _ = normalised_block(q, k[..., :CUT, :], v[..., :CUT, :])
    second, _ = normalised_block(q, k[..., CUT:, :], v[..., CUT:, :])
    return (first + second) / 2


SHARED = inputs((2, 6, 5, 11), (2, 2, 7, 11), (2, 2, 7, 11))
EQUAL = inputs((2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 11))
MASKED = inputs((2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 11), mask(5, 7))
BIASED = inputs((2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 11), (3, 5, 7))
CAPPED = inputs((2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 11), (13, 11))

PAIRS = [
    Pair("repeated and grouped heads", 5, repeated_heads, grouped_heads, SHARED,
         twins(scale_off=vary(grouped_heads, factor=0.5), wrong_head_order=grouped_heads_in_wrong_order)),
    Pair("heads repeated two ways", 5, repeated_heads, repeat_interleaved_heads, SHARED,
         twins(wrong_head_repetition_order=tiled_heads)),
    Pair("repeated and broadcast heads", 5, repeated_heads, broadcast_heads, SHARED,
         twins(swapped_K_and_V=lambda q, k, v: broadcast_heads(q, v, k))),
    Pair("repeated heads and stacked queries", 5, repeat_interleaved_heads, stacked_queries, SHARED,
         twins(wrong_head_order=stacked_queries_of_wrong_heads)),
    Pair("attention, fused and in three steps", 6, fused, three_steps, EQUAL,
         twins(scale_off=vary(three_steps, scale=1.0), wrong_axis=softmax_over_queries,
               swapped_K_and_V=swapped_keys_and_values)),
    Pair("attention with scaled queries", 6, fused, scaled_queries, EQUAL, twins(scale_off=scaled_queries_by_size)),
    Pair("attention with a scale", 6, fused_scale, vary(three_steps, scale=0.3), EQUAL,
         twins(scale_off=three_steps)),
    Pair("causal attention", 6, fused_causal, causal_steps, EQUAL,
         twins(diagonal_off_by_one=vary(causal_steps, diagonal=2), aligned_to_the_right=causal_steps_aligned_right)),
    Pair("attention with a boolean mask", 6, fused_boolean_mask, boolean_mask_steps, MASKED,
         twins(inverted_mask=inverted_mask, zero_instead_of_infinity=zero_instead_of_infinity)),
    Pair("attention with an additive mask", 6, fused_additive_mask, additive_mask_steps, BIASED,
         twins(mask_added_before_the_scale=mask_added_before_scale)),
    Pair("attention with shared heads", 6, fused_grouped, grouped_heads, SHARED,
         twins(wrong_head_repetition_order=tiled_heads, scale_off=vary(grouped_heads, factor=1.1))),
    Pair("attention with caps", 6, capped, capped_by_factors, CAPPED,
         twins(cap_missing_on_the_output=capped_on_scores_only, cap_missing_on_the_scores=capped_on_output_only,
               another_cap=vary(capped_by_factors, output_cap=0.8))),
    Pair("key blocks merged online", 11, fused, merged_blocks, EQUAL,
         twins(not_rescaled=merged_without_rescaling, one_sum_not_rescaled=merged_with_one_sum_unscaled,
               one_key_forgotten=vary(merged_blocks, cut=CUT + 1))),
    Pair("key blocks merged online, in three steps", 11, three_steps, merged_blocks, EQUAL,
         twins(one_key_twice=vary(merged_blocks, cut=CUT - 1))),
    Pair("key blocks merged by logarithms", 11, three_steps, merged_by_logarithms, EQUAL,
         twins(mean_of_blocks=merged_by_mean)),
    Pair("key blocks merged by a sigmoid", 11, three_steps, merged_by_sigmoid, EQUAL,
         twins(shares_swapped=vary(merged_by_sigmoid, sign=-1.0))),
]
