"""Pairs of programs that agree at the sizes of the example and part, or stop, at others.

Each says where: `parts` are shapes of the inputs at which the two compute different things, or at which one of them
computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Parting:
    """Two programs over inputs of these shapes, and shapes at which they part."""

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    parts: dict[str, tuple[int, ...]]
    inputs: Callable[[tuple[int, ...]], torch.Tensor]

    @property
    def example(self) -> dict[str, torch.Tensor]:
        return {name: self.inputs(shape) for name, shape in self.shapes.items()}


def numbers(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


PARTINGS: list[Parting] = []


def parts(shape: tuple[int, ...], *, of: tuple[int, ...] = (2, 5, 6), inputs: Any = numbers) -> Any:
    """Enters the function that returns both programs."""

    def enter(make: Callable[[], tuple[Any, Any]]) -> Callable[[], tuple[Any, Any]]:
        left, right = make()
        name = make.__name__
        PARTINGS.append(Parting(name, left, right, {"x": of}, {"x": shape}, inputs))
        return make

    return enter


# ---------------------------------------------------------------------------------------------- comparisons in Python


@parts((9, 5, 6))
def a_large_batch_is_scaled():
    return lambda x: x * 2, lambda x: x * 3 if x.shape[0] > 8 else x * 2


@parts((2, 100, 6))
def a_long_row_is_scaled():
    return lambda x: x.sum(1), lambda x: x.sum(1) * (2 if x.size(1) >= 64 else 1)


@parts((2, 65, 6))
def a_window_by_min():
    return lambda x: x.cumsum(1), lambda x: x[:, : min(x.shape[1], 64)].cumsum(1)


@parts((2, 3, 6))
def a_window_by_max():
    return lambda x: x.new_zeros(max(x.shape[1], 4)).sum() + x, lambda x: x.new_zeros(x.shape[1]).sum() + x * (
        1 if max(x.shape[1], 4) == x.shape[1] else 2
    )


@parts((2, 9, 6))
def an_odd_length():
    return lambda x: x + 1, lambda x: x + (1 if x.shape[1] % 9 else 2)


@parts((2, 9, 6), of=(2, 4, 6))
def a_quotient():
    return lambda x: x + 0, lambda x: x + x.shape[1] // 9


@parts((2, 81, 6))
def a_square():
    return lambda x: x, lambda x: x * (2 if int(math.sqrt(x.shape[1])) > 8 else 1)


@parts((2, 128, 6))
def a_number_of_elements():
    return lambda x: x.relu(), lambda x: x.relu() if x.numel() < 1000 else x


@parts((2, 33, 6))
def a_length_by_len():
    return lambda x: x[0], lambda x: x[0] if len(x[0]) < 33 else x[1]


@parts((2, 64, 6))
def a_table_of_strategies():
    table = {64: 2.0}
    return lambda x: x * 1.0, lambda x: x * table.get(x.shape[1], 1.0)


@parts((2, 12, 6))
def a_list_of_factors():
    factors = [1.0] * 12 + [2.0] * 300
    return lambda x: x * 1.0, lambda x: x * factors[x.shape[1]]


@parts((2, 10, 6))
def a_size_as_text():
    return lambda x: x * 1, lambda x: x * len(f"{x.shape[1]}") if len(str(x.shape[1])) > 1 else x * 1


@parts((2, 64, 6))
def a_membership():
    return lambda x: x * 1.0, lambda x: x * (2.0 if x.shape[1] in (64, 128) else 1.0)


@parts((2, 300, 6))
def a_power_of_two():
    return lambda x: x * 1.0, lambda x: x * (2.0 if x.shape[1].bit_length() > 8 else 1.0)


@parts((2, 130, 6))
def a_logarithm():
    return lambda x: x * 1.0, lambda x: x * max(1.0, math.log(x.shape[1]) / math.log(128))


@parts((2, 6, 6))
def sizes_are_compared_by_torch():
    return lambda x: x * 2, lambda x: x * 3 if x.is_same_size(x.mT) else x * 2


@parts((300, 5, 6))
def a_shape_is_compared():
    return lambda x: x * 1.0, lambda x: x * 2.0 if x.shape[:1] == (300,) else x * 1.0


@parts((2, 5, 48))
def a_width_is_a_multiple():
    return lambda x: x.sin(), lambda x: x.cos() if x.shape[-1] % 48 == 0 else x.sin()


@parts((2, 700, 6))
def a_float_of_a_size():
    return lambda x: x * 1.0, lambda x: x * (1.0 if float(x.shape[1]) < 512.0 else 0.5)


@parts((2, 257, 6))
def a_size_in_a_byte():
    return lambda x: x + 0, lambda x: x + (x.shape[1] & 256)


@parts((2, 200, 6))
def a_loop_over_blocks():
    def blocks(x):
        for start in range(0, x.shape[1], 100):
            x = x + start
        return x

    return lambda x: x + 0, blocks


@parts((9, 5, 6))
def batches_in_pieces():
    return lambda x: x - x.mean(0, keepdim=True), lambda x: torch.cat([p - p.mean(0, keepdim=True) for p in x.split(8)])


@parts((2, 17, 6))
def rows_in_pieces():
    def chunked(x):
        return torch.cat([part.softmax(1) for part in x.split(16, dim=1)], 1)

    return lambda x: x.softmax(1), chunked


# --------------------------------------------------------------------------------------------- operators decide, too


@parts((2, 4097, 6))
def a_crop():
    return lambda x: x.sum(1), lambda x: x[:, :4096].sum(1)


@parts((2, 66, 6))
def the_last_rows():
    return lambda x: x.sum(1), lambda x: x[:, -65:].sum(1)


@parts((2, 300, 6))
def a_strided_crop():
    return lambda x: x.flip(1), lambda x: x[:, :256].flip(1)


@parts((2, 5, 70))
def a_narrow_end():
    return lambda x: x.exp(), lambda x: x[..., :64].exp()


@parts((2, 80, 6))
def a_mask_of_a_block():
    mask = torch.ones(64, 64).tril().bool()

    def blocked(x):
        T = x.shape[1]
        return x.mT.matmul(mask[:T, :T].to(x.dtype))

    return lambda x: x.mT.matmul(torch.ones(x.shape[1], x.shape[1]).tril()), blocked


@parts((2, 65, 6))
def positions_are_clamped():
    def clamped(x):
        return x + torch.arange(x.shape[1]).clamp(max=63)[:, None]

    return lambda x: x + torch.arange(x.shape[1])[:, None], clamped


@parts((2, 66, 6))
def a_table_of_positions():
    table = numbers((64, 6))
    return (
        lambda x: x + F.embedding(torch.arange(x.shape[1]), table),
        lambda x: x + F.embedding(torch.arange(x.shape[1]).clamp(max=63), table),
    )


@parts((2, 300, 6))
def positions_in_bfloat16():
    return (
        lambda x: x + torch.arange(x.shape[1], dtype=torch.bfloat16).float()[:, None],
        lambda x: x + torch.arange(x.shape[1]).float()[:, None],
    )


@parts((2, 129, 6))
def positions_in_int8():
    return (
        lambda x: x + torch.arange(x.shape[1])[:, None].to(torch.int8),
        lambda x: x + torch.arange(x.shape[1])[:, None],
    )


@parts((2, 70, 6))
def a_far_window():
    def windowed(x):
        i = torch.arange(x.shape[1])
        near = (i[:, None] - i[None, :]) < 64
        return (x @ x.mT).masked_fill(~near, 0.0)

    return lambda x: x @ x.mT, windowed


@parts((2, 80, 6))
def a_bucket():
    def bucket(x):
        i = torch.arange(x.shape[1])
        return x * torch.where(i < 64, 1.0, 2.0)[:, None]

    return lambda x: x * 1.0, bucket


@parts((2, 68, 6))
def padded_to_a_block():
    def padded(x):
        T = x.shape[1]
        return F.pad(x, (0, 0, 0, max(0, 64 - T)))[:, :64].sum(1)

    return lambda x: x.sum(1), padded


@parts((2, 130, 6))
def negative_padding():
    return lambda x: x.sum(1), lambda x: F.pad(x, (0, 0, 0, 128 - x.shape[1])).sum(1)


@parts((2, 3, 6))
def rolled_by_more():
    return lambda x: x.roll(4, 1), lambda x: torch.cat([x[:, -4:], x[:, :-4]], 1)


@parts((2, 5, 3), of=(2, 5, 8))
def the_largest_few():
    return lambda x: x.topk(4, -1).values.sum(-1), lambda x: x.sort(-1, descending=True).values[..., :4].sum(-1)


@parts((2, 5, 9), of=(2, 5, 8))
def pooled_with_a_rest():
    return (
        lambda x: F.avg_pool1d(x, 2, ceil_mode=True),
        lambda x: F.avg_pool1d(x, 2),
    )


@parts((7, 5, 6), of=(4, 5, 6))
def chunks_of_a_batch():
    return lambda x: x.chunk(2)[1], lambda x: x[x.shape[0] // 2 :]


@parts((2, 5, 20))
def a_kernel_of_the_users():
    return lambda x: x.cumsum(-1), lambda x: x.cumsum(-1) if x.stride(0) < 100 else x


@parts((2, 600, 6))
def numpy_decides():
    import numpy as np

    return lambda x: x * 1.0, lambda x: x * float(np.floor(np.log2(x.shape[1]) / 9) + 1)


@parts((2, 50, 6))
def a_root_of_a_size():
    return lambda x: x * 1.0, lambda x: x * (1.0 + (math.isqrt(x.shape[1]) // 7))


@parts((2, 1000, 6))
def a_scale_by_length():
    def scaled(x):
        return x * (math.log(x.shape[1], 512) if x.shape[1] > 512 else 1)

    return lambda x: x * 1, scaled


@parts((2, 9, 6), of=(2, 16, 6))
def a_last_chunk():
    return lambda x: x.chunk(4, 1)[-1].sum(1), lambda x: x[:, 3 * ((x.shape[1] + 3) // 4) :].sum(1)


@parts((2, 3, 6), of=(2, 9, 6))
def windows_that_must_fit():
    return lambda x: x.unfold(1, 4, 1).sum((1, 3)), lambda x: sum(x[:, k : x.shape[1] - 3 + k].sum(1) for k in range(4))


class Cropping(nn.Module):
    """A model with a block size, as many have."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.block = 64

    def forward(self, x):
        if x.size(1) > self.block:
            x = x[:, -self.block :]
        return self.linear(x).sum(1)


@parts((2, 65, 6))
def a_model_that_crops():
    model = Cropping()
    return lambda x: F.linear(x, model.linear.weight, model.linear.bias).sum(1), model


@parts((2, 3, 6))
def a_difference_to_a_block():
    return lambda x: x + abs(x.shape[1] - 4), lambda x: x + (x.shape[1] - 4)


# ------------------------------------------------------------------------------- an operator that fails and is caught


@parts((2, 41, 6))
def an_index_that_fails():
    def indexed(x):
        try:
            return x * 2 + x[:, 40].sum()
        except IndexError:
            return x * 2

    return lambda x: x * 2, indexed


# ------------------------------------------------------------------------------- slices that torch takes itself


@parts((2, 41, 6))
def a_split_at_a_place():
    return lambda x: x.sum(1), lambda x: x.tensor_split((40,), 1)[0].sum(1)


@parts((2, 41, 6))
def the_end_of_a_slice_by_its_operator():
    return lambda x: x.sum(1), lambda x: torch.ops.aten.slice.Tensor(x, 1, -40).sum(1)
