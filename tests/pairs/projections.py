"""Linear maps that are written apart or together: fused projections, low-rank updates, convolutions, split sums."""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, positive, twins, vary

# 1: one linear with concatenated weights, split afterwards, and separate linears


def separate_qkv(x, wq, wk, wv):
    return F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)


def fused_qkv(x, wq, wk, wv):
    return F.linear(x, torch.cat((wq, wk, wv))).split((13, 7, 7), dim=-1)


def swapped_kv(x, wq, wk, wv):
    return F.linear(x, torch.cat((wq, wv, wk))).split((13, 7, 7), dim=-1)


def wrong_split_order(x, wq, wk, wv):
    k, q, v = F.linear(x, torch.cat((wq, wk, wv))).split((7, 13, 7), dim=-1)
    return q, k, v


def separate_gate_up(x, gate, up, gate_bias, up_bias):
    return F.silu(F.linear(x, gate, gate_bias)) * F.linear(x, up, up_bias)


def fused_gate_up(x, gate, up, gate_bias, up_bias):
    both = F.linear(x, torch.cat((gate, up)), torch.cat((gate_bias, up_bias)))
    gated, linear = both.chunk(2, dim=-1)
    return F.silu(gated) * linear


def fused_gate_up_without_bias(x, gate, up, gate_bias, up_bias):
    gated, linear = F.linear(x, torch.cat((gate, up))).chunk(2, dim=-1)
    return F.silu(gated) * linear


def fused_up_gate(x, gate, up, gate_bias, up_bias):
    both = F.linear(x, torch.cat((gate, up)), torch.cat((gate_bias, up_bias)))
    linear, gated = both.chunk(2, dim=-1)
    return F.silu(gated) * linear


def separate_matmuls(x, a, b):
    return x @ a, x @ b


def sliced_matmul(x, a, b, start=11):
    both = x @ torch.cat((a, b), dim=1)
    return both[:, :11], both[:, start : start + 13]


HEADS, SIZE = 3, 5


def separate_per_head(x, w, b):
    """`w` [heads, 3, size, hidden] holds queries, keys and values of a head side by side, as GPT-NeoX does."""
    return tuple(
        F.linear(x, w[:, part].reshape(HEADS * SIZE, -1), b[:, part].reshape(-1)).view(-1, HEADS, SIZE)
        for part in range(3)
    )


def fused_per_head(x, w, b):
    fused = F.linear(x, w.flatten(0, 2), b.flatten())
    return fused.view(-1, HEADS, 3 * SIZE).chunk(3, dim=-1)


def fused_not_per_head(x, w, b):
    fused = F.linear(x, w.flatten(0, 2), b.flatten())
    return fused.view(-1, 3, HEADS, SIZE).unbind(1)


# 9: convolutions as linear maps


def convolution_1x1(x, w, b):
    return F.conv2d(x, w[:, :, None, None], b)


def linear_over_channels(x, w, b):
    return F.linear(x.permute(0, 2, 3, 1), w, b).permute(0, 3, 1, 2)


def linear_without_bias(x, w, b):
    return F.linear(x.permute(0, 2, 3, 1), w).permute(0, 3, 1, 2)


def linear_over_wrong_axis(x, w, b):
    return F.linear(x, w, b).permute(0, 3, 2, 1)


def convolution_1x1_1d(x, w, b):
    return F.conv1d(x, w[:, :, None], b)


def matmul_over_channels(x, w, b):
    return w @ x + b[:, None]


def matmul_minus_bias(x, w, b):
    return w @ x - b[:, None]


def convolution_then_norm(x, w, b, mean, variance, scale, shift):
    return F.batch_norm(F.conv2d(x, w, b), mean, variance, scale, shift, training=False, eps=1e-3)


def folded_convolution(x, w, b, mean, variance, scale, shift, eps=1e-3):
    factor = scale / torch.sqrt(variance + eps)
    return F.conv2d(x, w * factor[:, None, None, None], (b - mean) * factor + shift)


def folded_without_mean(x, w, b, mean, variance, scale, shift):
    factor = scale / torch.sqrt(variance + 1e-3)
    return F.conv2d(x, w * factor[:, None, None, None], b * factor + shift)


def folded_with_unscaled_bias(x, w, b, mean, variance, scale, shift):
    factor = scale / torch.sqrt(variance + 1e-3)
    return F.conv2d(x, w * factor[:, None, None, None], b - mean * factor + shift)


def patches_by_convolution(x, w, b):
    """Patches of 2 x 3 pixels, embedded: [batch, channels, 10, 21] to [batch, 35, features]."""
    return F.conv2d(x, w, b, stride=(2, 3)).flatten(2).transpose(1, 2)


def patches_by_linear(x, w, b):
    batch, channels, height, width = x.shape
    patches = x.view(batch, channels, height // 2, 2, width // 3, 3).permute(0, 2, 4, 1, 3, 5)
    return F.linear(patches.reshape(batch, -1, channels * 6), w.flatten(1), b)


def patches_with_pixels_outside_channels(x, w, b):
    batch, channels, height, width = x.shape
    patches = x.view(batch, channels, height // 2, 2, width // 3, 3).permute(0, 2, 4, 3, 5, 1)
    return F.linear(patches.reshape(batch, -1, channels * 6), w.flatten(1), b)


# 12: a low-rank update, merged into the weight or beside it


def lora_beside(x, w, a, b):
    return x @ w + (x @ a) @ b * 2.5


def lora_merged(x, w, a, b, scale=2.5):
    return x @ (w + scale * (a @ b))


def lora_transposed(x, w, a, b):
    return x @ (w + 2.5 * (a @ b).T)


def lora_linear_beside(x, w, bias, a, b):
    return F.linear(x, w, bias) + F.linear(F.linear(x, a), b) * (16 / 3)


def lora_linear_merged(x, w, bias, a, b, scale=16 / 3):
    return F.linear(x, w + b @ a * scale, bias)


def lora_linear_merged_without_bias(x, w, bias, a, b):
    return F.linear(x, w + b @ a * (16 / 3))


# 14: heads concatenated and then projected, or projected one by one and added


def heads_concatenated(heads, w):
    """`heads` [batch, 3, time, 5], `w` [15, features]."""
    return heads.transpose(1, 2).flatten(2) @ w


def heads_added(heads, w):
    return sum(heads[:, head] @ w[head * SIZE : (head + 1) * SIZE] for head in range(HEADS))


def heads_added_in_wrong_order(heads, w):
    return sum(heads[:, head] @ w[(2 - head) * SIZE : (3 - head) * SIZE] for head in range(HEADS))


def one_head_forgotten(heads, w):
    return sum(heads[:, head] @ w[head * SIZE : (head + 1) * SIZE] for head in range(HEADS - 1))


def heads_flattened_without_transpose(heads, w):
    return heads.reshape(heads.shape[0], heads.shape[2], -1) @ w


def heads_by_einsum(heads, w):
    return torch.einsum("bhtd,hde->bte", heads, w.view(HEADS, SIZE, -1))


def heads_by_einsum_interleaved(heads, w):
    return torch.einsum("bhtd,dhe->bte", heads, w.view(SIZE, HEADS, -1))


# 19: a matmul whose sum is taken in pieces


def whole_sum(a, b):
    return a @ b


def two_pieces(a, b, cut=4):
    return a[:, :cut] @ b[:cut] + a[:, 4:] @ b[4:]


def batched_pieces(a, b):
    """Four pieces of three, as split-K kernels do, added at the end."""
    pieces = a.view(-1, 4, 3).transpose(0, 1) @ b.view(4, 3, -1)
    return pieces.sum(0)


def strided_pieces_of_one_side(a, b):
    pieces = a.view(-1, 3, 4).permute(2, 0, 1) @ b.view(4, 3, -1)
    return pieces.sum(0)


def mean_of_pieces(a, b):
    pieces = a.view(-1, 4, 3).transpose(0, 1) @ b.view(4, 3, -1)
    return pieces.mean(0)


def ragged_pieces(a, b):
    """Tiles of five over a sum of twelve: the last tile is padded with zeros."""
    a, b = F.pad(a, (0, 3)), F.pad(b, (0, 0, 0, 3))
    return sum(a[:, start : start + 5] @ b[start : start + 5] for start in range(0, 15, 5))


def last_piece_forgotten(a, b):
    a, b = F.pad(a, (0, 3)), F.pad(b, (0, 0, 0, 3))
    return sum(a[:, start : start + 5] @ b[start : start + 5] for start in range(0, 10, 5))


QKV = inputs((5, 11), (13, 11), (7, 11), (7, 11))
GATE_UP = inputs((5, 7), (11, 7), (11, 7), (11,), (11,))
FOLDED = inputs((2, 3, 7, 5), (11, 3, 3, 2), (11,), (11,), positive(11), (11,), (11,))
SPLIT = inputs((5, 12), (12, 7))

PAIRS = [
    Pair("fused qkv", 1, separate_qkv, fused_qkv, QKV,
         twins(swapped_K_and_V=swapped_kv, wrong_split_order=wrong_split_order)),
    Pair("fused gate and up", 1, separate_gate_up, fused_gate_up, GATE_UP,
         twins(missing_bias=fused_gate_up_without_bias, wrong_split_order=fused_up_gate)),
    Pair("fused matmul, sliced", 1, separate_matmuls, sliced_matmul, inputs((5, 7), (7, 11), (7, 13)),
         twins(slice_off_by_one=vary(sliced_matmul, start=10))),
    Pair("fused qkv, head by head", 1, separate_per_head, fused_per_head, inputs((7, 11), (3, 3, 5, 11), (3, 3, 5)),
         twins(wrong_split_order=fused_not_per_head)),
    Pair("1x1 convolution and linear", 9, convolution_1x1, linear_over_channels, inputs((2, 5, 7, 5), (11, 5), (11,)),
         twins(missing_bias=linear_without_bias, wrong_axis=linear_over_wrong_axis)),
    Pair("1x1 convolution of a sequence and matmul", 9, convolution_1x1_1d, matmul_over_channels,
         inputs((2, 5, 7), (11, 5), (11,)), twins(bias_subtracted=matmul_minus_bias)),
    Pair("convolution with batch norm folded in", 9, convolution_then_norm, folded_convolution, FOLDED,
         twins(eps_off=vary(folded_convolution, eps=1e-5), mean_forgotten=folded_without_mean,
               bias_not_scaled=folded_with_unscaled_bias)),
    Pair("patches by convolution and by linear", 9, patches_by_convolution, patches_by_linear,
         inputs((1, 5, 10, 21), (11, 5, 2, 3), (11,)), twins(wrong_axis=patches_with_pixels_outside_channels)),
    Pair("low-rank update of a matmul", 12, lora_beside, lora_merged, inputs((5, 7), (7, 7), (7, 3), (3, 7)),
         twins(scale_off=vary(lora_merged, scale=1.0), transposed_update=lora_transposed)),
    Pair("low-rank update of a linear", 12, lora_linear_beside, lora_linear_merged,
         inputs((5, 7), (11, 7), (11,), (3, 7), (11, 3)),
         twins(scale_off=vary(lora_linear_merged, scale=16 / 4), missing_bias=lora_linear_merged_without_bias)),
    Pair("heads concatenated and added", 14, heads_concatenated, heads_added, inputs((2, 3, 7, 5), (15, 11)),
         twins(wrong_head_order=heads_added_in_wrong_order, one_head_forgotten=one_head_forgotten)),
    Pair("heads concatenated and contracted", 14, heads_concatenated, heads_by_einsum, inputs((2, 3, 7, 5), (15, 11)),
         twins(heads_interleaved=heads_by_einsum_interleaved, heads_not_transposed=heads_flattened_without_transpose)),
    Pair("matmul in two pieces", 19, whole_sum, two_pieces, SPLIT, twins(one_term_forgotten=vary(two_pieces, cut=3))),
    Pair("split-K matmul", 19, whole_sum, batched_pieces, SPLIT,
         twins(pieces_do_not_match=strided_pieces_of_one_side, mean_instead_of_sum=mean_of_pieces)),
    Pair("matmul in ragged tiles", 19, whole_sum, ragged_pieces, SPLIT,
         twins(last_tile_forgotten=last_piece_forgotten)),
]
