"""Moving elements, and sums that are moves in disguise: tables, cumulative sums, pools, pads, slices, flips, rolls."""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, integers, twins, vary

# 15: a row of a table


def embedding(ids, table):
    return F.embedding(ids, table)


def one_hot_matmul(ids, table):
    return F.one_hot(ids, table.shape[0]).to(table.dtype) @ table


def one_hot_matmul_off_by_one(ids, table):
    return F.one_hot(ids, table.shape[0]).roll(1, -1).to(table.dtype) @ table


def comparison_matmul(ids, table, first=0):
    rows = torch.arange(first, first + table.shape[0])
    return (ids[..., None] == rows).to(table.dtype) @ table


def indexed(ids, table):
    return table[ids]


def indexed_from_the_end(ids, table):
    return table[-1 - ids]


# 16: cumulative sums


def cumulative_sum(x):
    return x.cumsum(-1)


def triangular_matmul(x, diagonal=0):
    ones = torch.ones(x.shape[-1], x.shape[-1], dtype=x.dtype)
    return x @ ones.triu(diagonal)


def reversed_triangular_matmul(x):
    return x @ torch.ones(x.shape[-1], x.shape[-1], dtype=x.dtype).tril()


def cumulative_sum_of_rows(x):
    return x.cumsum(0)


def triangular_matmul_of_rows(x):
    return torch.ones(len(x), len(x), dtype=x.dtype).tril() @ x


def cumulative_sum_over_wrong_axis(x):
    return x.cumsum(1)


def sum_from_the_right(x):
    return x.flip(-1).cumsum(-1).flip(-1)


def total_minus_cumulative(x):
    return x.sum(-1, keepdim=True) - x.cumsum(-1) + x


def total_minus_inclusive(x):
    return x.sum(-1, keepdim=True) - x.cumsum(-1)


# 17: average pools


def average_pool(x):
    return F.avg_pool2d(x, (2, 3))


def pool_by_reshape(x):
    batch, channels, height, width = x.shape
    return x.view(batch, channels, height // 2, 2, width // 3, 3).mean((3, 5))


def pool_by_wrong_reshape(x):
    batch, channels, height, width = x.shape
    return x.view(batch, channels, 2, height // 2, 3, width // 3).mean((2, 4))


def pool_by_sum(x):
    batch, channels, height, width = x.shape
    return x.view(batch, channels, height // 2, 2, width // 3, 3).sum((3, 5)) / 5


def average_pool_of_sequence(x):
    return F.avg_pool1d(x, 3)


def pool_by_strided_slices(x, last=2):
    return (x[..., 0::3] + x[..., 1::3] + x[..., last::3]) / 3


def pool_everything(x):
    return F.adaptive_avg_pool2d(x, 1).flatten(1)


def mean_of_pixels(x):
    return x.mean((2, 3))


def mean_of_pixels_without_one(x):
    return x[..., :-1].mean((2, 3))


# 20: pads, slices, concatenations, flips and rolls


def same(x):
    return x.clone()


def pad_then_slice(x, start=2):
    return F.pad(x, (2, 3))[:, start : start + x.shape[1]]


def concatenated_halves(x):
    return torch.cat((x[:, :4], x[:, 4:]), dim=1)


def swapped_halves(x):
    return torch.cat((x[:, 4:], x[:, :4]), dim=1)


def padded(x):
    return F.pad(x, (2, 3))


def concatenated_with_zeros(x, before=2, after=3):
    zeros = x.new_zeros(x.shape[0], before + after)
    return torch.cat((zeros[:, :before], x, zeros[:, :after]), dim=1)


def padded_by_assignment(x, start=2):
    out = x.new_zeros(x.shape[0], x.shape[1] + 5)
    out[:, start : start + x.shape[1]] = x
    return out


def flipped(x):
    return x.flip(1)


def reversed_by_index(x, shift=0):
    return x[:, (torch.arange(x.shape[1] - 1, -1, -1) + shift) % x.shape[1]]


def flipped_parts(x):
    return torch.cat((x[:, 4:].flip(1), x[:, :4].flip(1)), dim=1)


def flipped_parts_in_old_order(x):
    return torch.cat((x[:, :4].flip(1), x[:, 4:].flip(1)), dim=1)


def flipped_twice(x):
    return x.flip(0, 1).flip(1).flip(0)


def flipped_once_each_way(x):
    return x.flip(0, 1).flip(1)


def rolled(x):
    return x.roll(3, 1)


def rolled_by_slices(x, shift=3):
    assert x.shape[1] >= shift                              # of shorter rows, the slices are no roll
    return torch.cat((x[:, -shift:], x[:, :-shift]), dim=1)


def rolled_twice(x, second=-2):
    return x.roll(5, 1).roll(second, 1)


def rolled_the_other_way(x):
    return torch.cat((x[:, 3:], x[:, :3]), dim=1)


def rolled_over_wrong_axis(x):
    return x.roll(5, 1).roll(-2, 0)


def slice_of_concatenation(x, y):
    return torch.cat((x, y), dim=1)[:, 5:13]


def concatenation_of_slices(x, y):
    return torch.cat((x[:, 5:], y[:, :6]), dim=1)


def concatenation_of_later_slices(x, y):
    return torch.cat((x[:, 5:], y[:, 1:7]), dim=1)


def interleaved(x, y):
    return torch.stack((x, y), dim=-1).flatten(1)


def interleaved_by_assignment(x, y):
    out = x.new_empty(x.shape[0], 2 * x.shape[1])
    out[:, 0::2], out[:, 1::2] = x, y
    return out


def interleaved_second_first(x, y):
    return torch.stack((y, x), dim=-1).flatten(1)


def concatenated_instead(x, y):
    return torch.cat((x, y), dim=1)


def strided_slice(x):
    return x[:, 1::3].clone()


def strided_by_reshape(x, offset=1):
    return F.pad(x, (0, 2)).unflatten(1, (-1, 3))[:, :, offset][:, :2]


def transposed_reshape(x):
    """[5, 12] as tiles of 3 x 4 seen from the other side."""
    return x.view(5, 3, 4).transpose(1, 2).reshape(5, 12)


def permuted_by_index(x, rows=3):
    order = torch.arange(12).view(rows, -1).T.flatten()
    return x[:, order]


IDS = inputs(integers(7, 2, 5), (7, 11))
MATRIX = inputs((5, 7))
TWO = inputs((5, 7), (5, 7))
IMAGE = inputs((1, 5, 14, 9))

PAIRS = [
    Pair("embedding and one-hot matmul", 15, embedding, one_hot_matmul, IDS,
         twins(row_off_by_one=one_hot_matmul_off_by_one)),
    Pair("embedding and comparison matmul", 15, embedding, comparison_matmul, IDS,
         twins(row_off_by_one=vary(comparison_matmul, first=1))),
    Pair("embedding and index", 15, embedding, indexed, IDS, twins(counted_from_the_end=indexed_from_the_end)),
    Pair("cumulative sum and triangular matmul", 16, cumulative_sum, triangular_matmul, MATRIX,
         twins(exclusive_sum=vary(triangular_matmul, diagonal=1), summed_backwards=reversed_triangular_matmul)),
    Pair("cumulative sum of rows and triangular matmul", 16, cumulative_sum_of_rows, triangular_matmul_of_rows, MATRIX,
         twins(wrong_axis=cumulative_sum_over_wrong_axis)),
    Pair("cumulative sum from the right", 16, sum_from_the_right, total_minus_cumulative, MATRIX,
         twins(own_element_left_out=total_minus_inclusive)),
    Pair("average pool and mean of a reshape", 17, average_pool, pool_by_reshape, IMAGE,
         twins(wrong_axis=pool_by_wrong_reshape, divided_by_five=pool_by_sum)),
    Pair("average pool and strided slices", 17, average_pool_of_sequence, pool_by_strided_slices, inputs((2, 5, 12)),
         twins(slice_off_by_one=vary(pool_by_strided_slices, last=0))),
    Pair("average of all pixels", 17, pool_everything, mean_of_pixels, IMAGE,
         twins(last_column_forgotten=mean_of_pixels_without_one)),
    Pair("pad and slice back", 20, same, pad_then_slice, MATRIX, twins(slice_off_by_one=vary(pad_then_slice, start=1))),
    Pair("concatenated halves", 20, same, concatenated_halves, MATRIX, twins(wrong_split_order=swapped_halves)),
    Pair("pad and concatenation with zeros", 20, padded, concatenated_with_zeros, MATRIX,
         twins(sides_swapped=vary(concatenated_with_zeros, before=3, after=2))),
    Pair("pad and assignment to a slice", 20, padded, padded_by_assignment, MATRIX,
         twins(slice_off_by_one=vary(padded_by_assignment, start=3))),
    Pair("flip and reversed index", 20, flipped, reversed_by_index, MATRIX,
         twins(index_off_by_one=vary(reversed_by_index, shift=1))),
    Pair("flip of a concatenation", 20, flipped, flipped_parts, MATRIX,
         twins(parts_in_old_order=flipped_parts_in_old_order)),
    Pair("flips undone", 20, same, flipped_twice, MATRIX, twins(one_flip_left=flipped_once_each_way)),
    Pair("roll and slices", 20, rolled, rolled_by_slices, MATRIX,
         twins(shift_off_by_one=vary(rolled_by_slices, shift=2), rolled_the_other_way=rolled_the_other_way)),
    Pair("rolls added", 20, rolled, rolled_twice, MATRIX,
         twins(wrong_axis=rolled_over_wrong_axis, shift_off_by_one=vary(rolled_twice, second=-1))),
    Pair("slice of a concatenation", 20, slice_of_concatenation, concatenation_of_slices, TWO,
         twins(slice_off_by_one=concatenation_of_later_slices)),
    Pair("interleaved by stack and by assignment", 20, interleaved, interleaved_by_assignment, TWO,
         twins(wrong_order=interleaved_second_first, concatenated_instead=concatenated_instead)),
    Pair("strided slice and reshape", 20, strided_slice, strided_by_reshape, MATRIX,
         twins(offset_off_by_one=vary(strided_by_reshape, offset=2))),
    Pair("transposed tiles and index", 20, transposed_reshape, permuted_by_index, inputs((5, 12)),
         twins(tiles_turned=vary(permuted_by_index, rows=4))),
]
