"""Values and layouts: tensors on which compilers slip, as expressions of torch.

What a tensor holds and how it lies in memory are chosen apart. Lengths stand around the width of a vector register,
where a compiler leaves its vector loop for the scalar rest. Numbers are ordinary ones, or those that are not: a few of
NaN, infinities, −0.0, denormals, the ends of an integer's range. A program's mood says how often which are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch

FLOATS = ("float32", "float32", "float32", "float64", "bfloat16", "float16")  # by how often they are drawn
INTEGERS = ("int64", "int64", "int32", "int16", "int8", "uint8")
DTYPES = (*FLOATS, *INTEGERS, "bool")
COMPLEX = ("complex64",)
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65)  # around 8, 16, 32 lanes
COMMON = (2, 3, 4, 5, 8, 16, 17)
SPECIAL = ("nan", "inf", "-inf", "0.0", "-0.0", "1e-40", "1.0", "-1.0", "2.5", "-3.5", "1e30")
NUMBERS = {False: (2, 3, -1, 0, 1), True: (2, 0.5, -1.5, 0, 0.0, 1.0)}     # in a program; passes look for 0 and 1
MOODS = {                    # how often which contents are drawn
    "ordinary": {"normal": 3, "small": 3, "halves": 1, "signed": 1, "any": 1},
    "mixed": {"normal": 2, "small": 3, "halves": 1, "signed": 2, "one": 2, "special": 2, "extremes": 2, "any": 1},
    "extreme": {"one": 1, "special": 3, "extremes": 1, "any": 1},
}

Content = Callable[[random.Random, Sequence[int], str], str]
Layout = Callable[[random.Random, tuple[int, ...]], tuple[tuple[int, ...], str]]


def any_shape(dice: random.Random) -> tuple[int, ...]:
    """Few dimensions; lengths around the vector width, and now and then none."""
    rank = dice.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
    lengths = [dice.choice(LENGTHS if dice.random() < 0.4 else COMMON) for _ in range(rank)]
    while rank > 2 and torch.Size(lengths).numel() > 4096:
        lengths[dice.randrange(rank)] = 2
    return tuple(lengths)


def any_mood(dice: random.Random) -> str:
    """Mostly mixed; one program in four has nothing but extremes to compute with."""
    return dice.choices(("mixed", "extreme"), (3, 1))[0]


def any_tensor(dice: random.Random, shape: Sequence[int], dtype: str, mood: str = "mixed") -> str:
    """An expression that makes a tensor of this shape and dtype."""
    kind = torch.zeros((), dtype=getattr(torch, dtype))
    if kind.is_complex():
        return f"torch.complex({any_tensor(dice, shape, 'float32', mood)}, {any_tensor(dice, shape, 'float32', mood)})"
    layout = LAYOUTS[dice.choices(list(LAYOUTS), [6, 1, 1, 1, 1])[0]] if len(shape) else LAYOUTS["contiguous"]
    base, moved = layout(dice, tuple(shape))
    names = CONTENTS["bool" if dtype == "bool" else "float" if kind.is_floating_point() else "integer"]
    content = dice.choices(list(names), [MOODS[mood].get(name, 0) for name in names])[0]
    return names[content](dice, base, dtype) + moved


def any_number(dice: random.Random, beside: torch.Tensor) -> int | float:
    """A number that stands in a program beside a tensor."""
    return dice.choice(NUMBERS[beside.is_floating_point()])


def _drawn(dice: random.Random, shape: Sequence[int], ends: tuple[int, int]) -> str:
    """Integers from the first of the ends to below the second."""
    seed = dice.randrange(1000)
    return f"torch.randint({ends[0]}, {ends[1]}, {tuple(shape)}, generator=torch.Generator().manual_seed({seed}))"


def _cast(dtype: str, already: str = "int64") -> str:
    return "" if dtype == already else f".to(torch.{dtype})"


def _normal(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    text = f"torch.randn({tuple(shape)}, generator=torch.Generator().manual_seed({dice.randrange(1000)}))"
    return text + _cast(dtype, "float32")


def _halves(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    """Multiples of 1/2, on which sums and products are exact in any order."""
    return f"({_drawn(dice, shape, (-8, 9))} / 2){_cast(dtype, 'float32')}"


def _small(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    return _drawn(dice, shape, (0, 9) if dtype == "uint8" else (-8, 9)) + _cast(dtype)


def _of_one_sign(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    """None is 0 and none has another sign, so that what a fold begins with shows where it is not neutral."""
    return _drawn(dice, shape, (-8, 0) if dice.random() < 0.5 and dtype != "uint8" else (1, 9)) + _cast(dtype)


def _repeated(numbers: Sequence[str], shape: Sequence[int], dtype: str) -> str:
    """These numbers again and again."""
    size = torch.Size(shape).numel()
    made = f"torch.tensor([{', '.join(numbers)}], dtype=torch.{dtype})"
    return f"{made}.repeat({max(-(-size // len(numbers)), 1)})[:{size}].reshape({tuple(shape)})"


def _special(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    return _repeated(_some(dice, SPECIAL), shape, dtype)


def _one(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    """One that is not ordinary among many that are."""
    numbers = [f"{0.5 * k}" for k in range(-6, 7)]
    numbers[dice.randrange(len(numbers))] = dice.choice(("nan", "nan", "inf", "-inf", "-0.0"))
    return _repeated(numbers, shape, dtype)


def _extremes(dice: random.Random, shape: Sequence[int], dtype: str) -> str:
    info = torch.iinfo(getattr(torch, dtype))
    ends = dict.fromkeys((info.min, info.max, 0, 1, info.min + 1, info.max - 1, max(info.min, -1)))
    return _repeated(_some(dice, list(map(str, ends))), shape, dtype)


def _some(dice: random.Random, numbers: Sequence[str]) -> Sequence[str]:
    """All, or a few of them: a NaN that is everywhere hides what becomes of the rest."""
    return numbers if dice.random() < 0.3 else dice.sample(numbers, dice.randint(2, 4))


CONTENTS: dict[str, dict[str, Content]] = {
    "float": {"normal": _normal, "halves": _halves, "signed": _of_one_sign, "one": _one, "special": _special},
    "integer": {"small": _small, "signed": _of_one_sign, "extremes": _extremes},
    "bool": {"any": lambda dice, shape, _: f"{_drawn(dice, shape, (0, 2))}.bool()"},
}


def _transposed(dice: random.Random, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    a, b = dice.randrange(len(shape)), dice.randrange(len(shape))
    base = list(shape)
    base[a], base[b] = base[b], base[a]
    return tuple(base), f".transpose({a}, {b})"


def _expanded(dice: random.Random, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    dim = dice.randrange(len(shape))
    return (*shape[:dim], 1, *shape[dim + 1 :]), f".expand({shape})"


LAYOUTS: dict[str, Layout] = {                # the shape of a base, and the view of it that has the shape
    "contiguous": lambda dice, shape: (shape, ""),
    "transposed": _transposed,
    "expanded": _expanded,
    "strided": lambda dice, shape: ((*shape[:-1], 2 * shape[-1]), "[..., ::2]"),
    "offset": lambda dice, shape: ((shape[0] + 1, *shape[1:]), "[1:]"),
}
