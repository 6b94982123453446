"""Rotary position embeddings: halves or neighbours turned, real or complex, angles computed or read from a table.

Tensors are [batch, heads, time, size] unless said otherwise; cosines and sines are [time, size / 2].
"""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, integers, positive, twins, vary

HEADS, SIZE, POSITIONS = 3, 10, 13


def rotate_half(x):
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-second, first), dim=-1)


def by_rotate_half(x, angles):
    """As Transformers does: the angles of the first half repeated for the second."""
    both = torch.cat((angles, angles), dim=-1)
    return x * both.cos() + rotate_half(x) * both.sin()


def by_halves(x, angles, sign=1.0):
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin() * sign
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def by_halves_swapped(x, angles):
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((second * cos + first * sin, first * cos - second * sin), dim=-1)


def by_neighbours(x, angles):
    """As GPT-J does: elements 2i and 2i + 1 turn together."""
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1).flatten(-2)


def by_complex_numbers(x, angles):
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def by_complex_pairs(x, angles):
    turn = torch.view_as_complex(torch.stack((angles.cos(), angles.sin()), dim=-1))
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn).flatten(-2)


def by_conjugate_numbers(x, angles):
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angles), -angles)
    return torch.view_as_real(turned).flatten(-2)


def by_complex_halves(x, angles):
    """The real parts are the first half, the imaginary parts the second."""
    first, second = x.chunk(2, dim=-1)
    turned = torch.complex(first, second) * torch.complex(angles.cos(), angles.sin())
    return torch.cat((turned.real, turned.imag), dim=-1)


def by_complex_halves_flipped(x, angles):
    first, second = x.chunk(2, dim=-1)
    turned = torch.complex(second, first) * torch.complex(angles.cos(), angles.sin())
    return torch.cat((turned.imag, turned.real), dim=-1)


def heads(x, weight):
    return F.linear(x, weight).view(*x.shape[:2], HEADS, SIZE).transpose(1, 2)


def neighbours_to_halves(weight):
    """Permute the rows of a weight so that neighbours of each head become halves, as checkpoint converters do."""
    return weight.view(HEADS, SIZE // 2, 2, -1).transpose(1, 2).reshape(weight.shape)


def wrong_permutation(weight):
    return weight.view(HEADS, 2, SIZE // 2, -1).transpose(1, 2).reshape(weight.shape)


def scores_of_neighbours(x, wq, wk, angles):
    q, k = by_neighbours(heads(x, wq), angles), by_neighbours(heads(x, wk), angles)
    return q @ k.transpose(-1, -2)


def scores_of_permuted_halves(x, wq, wk, angles, permute_q=neighbours_to_halves, permute_k=neighbours_to_halves):
    q = by_rotate_half(heads(x, permute_q(wq)), angles)
    k = by_rotate_half(heads(x, permute_k(wk)), angles)
    return q @ k.transpose(-1, -2)


def computed_angles(x, positions, frequency):
    return by_rotate_half(x, positions[:, None] * frequency)


def cached_table(x, positions, frequency, first=0):
    """Rows of a table of cosines and sines made for all positions."""
    table = torch.arange(first, first + POSITIONS, dtype=x.dtype)[:, None] * frequency
    cos, sin = torch.cat((table.cos(), table.sin()), dim=-1)[positions].chunk(2, dim=-1)
    first_half, second_half = x.chunk(2, dim=-1)
    return torch.cat((first_half * cos - second_half * sin, second_half * cos + first_half * sin), dim=-1)


def cached_table_sines_first(x, positions, frequency):
    table = torch.arange(POSITIONS, dtype=x.dtype)[:, None] * frequency
    cos, sin = torch.cat((table.sin(), table.cos()), dim=-1)[positions].chunk(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def on_flat_tokens(x, angles):
    """As serving engines do: [tokens, heads · size], one row of angles for each token."""
    batch, count, time, size = x.shape
    flat = x.transpose(1, 2).reshape(batch * time, count * size)
    rows = angles.repeat(batch, 1).unsqueeze(1)
    first, second = flat.view(batch * time, count, size).chunk(2, dim=-1)
    cos, sin = rows.cos(), rows.sin()
    turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.view(batch, time, count, size).transpose(1, 2)


def on_flat_tokens_of_wrong_order(x, angles):
    batch, count, time, size = x.shape
    flat = x.transpose(1, 2).reshape(batch * time, count * size)
    rows = angles.repeat_interleave(batch, 0).unsqueeze(1)
    first, second = flat.view(batch * time, count, size).chunk(2, dim=-1)
    cos, sin = rows.cos(), rows.sin()
    turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.view(batch, time, count, size).transpose(1, 2)


def part_turned(x, angles):
    """Only the first elements of each head turn, the rest passes."""
    size = 2 * angles.shape[-1]
    return torch.cat((by_rotate_half(x[..., :size], angles), x[..., size:]), dim=-1)


def part_turned_by_halves(x, angles):
    size = 2 * angles.shape[-1]
    turned = by_halves(x[..., :size], angles)
    return torch.cat((turned, x[..., size:]), dim=-1)


def last_part_turned(x, angles):
    size = x.shape[-1] - 2 * angles.shape[-1]
    return torch.cat((x[..., :size], by_halves(x[..., size:], angles)), dim=-1)


TURN = inputs((2, 3, 7, 10), (7, 5))
SCORES = inputs((2, 7, 11), (30, 11), (30, 11), (7, 5))
TABLE = inputs((2, 3, 7, 10), integers(POSITIONS, 7), positive(5))

PAIRS = [
    Pair("rope by rotate_half and by halves", 4, by_rotate_half, by_halves, TURN,
         twins(turned_backwards=vary(by_halves, sign=-1.0), halves_swapped=by_halves_swapped)),
    Pair("rope of neighbours by polar numbers", 4, by_neighbours, by_complex_numbers, TURN,
         twins(turned_backwards=by_conjugate_numbers, halves_instead_of_neighbours=by_halves)),
    Pair("rope of neighbours by complex numbers", 4, by_neighbours, by_complex_pairs, TURN,
         twins(halves_instead_of_neighbours=by_rotate_half)),
    Pair("rope of halves by complex numbers", 4, by_rotate_half, by_complex_halves, TURN,
         twins(parts_swapped=by_complex_halves_flipped, neighbours_instead_of_halves=by_neighbours)),
    Pair("rope of neighbours with permuted weights, by scores", 4, scores_of_neighbours, scores_of_permuted_halves,
         SCORES, twins(only_queries_permuted=vary(scores_of_permuted_halves, permute_k=lambda weight: weight),
                       wrong_split_order=vary(scores_of_permuted_halves, permute_k=wrong_permutation),
                       not_permuted=vary(scores_of_permuted_halves, permute_q=lambda weight: weight,
                                         permute_k=lambda weight: weight))),
    Pair("rope from a cached table", 4, computed_angles, cached_table, TABLE,
         twins(position_off_by_one=vary(cached_table, first=1), sines_and_cosines_swapped=cached_table_sines_first)),
    Pair("rope on flat tokens", 4, by_rotate_half, on_flat_tokens, TURN,
         twins(wrong_token_order=on_flat_tokens_of_wrong_order)),
    Pair("rope of a part of each head", 4, part_turned, part_turned_by_halves, inputs((2, 3, 7, 13), (7, 5)),
         twins(wrong_part=last_part_turned)),
]
