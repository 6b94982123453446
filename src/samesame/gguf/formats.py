"""Formats: whether a tensor as GGUF stores it is what a quantiser makes of given numbers.

A quantised block holds a code for each number, and a scale (and often a least value). Codes of zeros and codes of ones
under the block's own scales say which numbers it can hold: from the lowest to the highest, in equal steps. A number in
this range must have the nearest code, one beyond it the code at that end, and none may lie far beyond, so that no
weight of another block, layer or scale passes; how scales were chosen is the quantiser's own business. The factor of
the whole tensor is looked at, too, since a scale that is a little wrong moves no single number far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

BLOCK = 256                                                # numbers of a large block, which share what scales hold
BEYOND = 1.0                                               # steps that a number may lie beyond what its block can hold
BEYOND_SUPER = 2.0                                         # where scales are themselves codes
ROUNDED_SCALE = 2.0**-10                                   # a code may be chosen before its scale is rounded to float16
FACTOR = 4.0                                               # times the squared relative error: how far off the factor is


@dataclass(frozen=True, slots=True)
class Format:
    """The bytes of a block that hold codes, of how many bits, and the bytes of the lowest and the highest code."""

    start: int
    end: int
    bits: int
    low: int = 0x00
    high: int = 0xFF
    beyond: float = BEYOND


FORMATS = {
    "Q4_0": Format(2, 18, 4),
    "Q4_1": Format(4, 20, 4),
    "Q5_0": Format(2, 22, 5),
    "Q5_1": Format(4, 24, 5),
    "Q8_0": Format(2, 34, 8, 0x80, 0x7F),
    "Q2_K": Format(16, 80, 2, beyond=BEYOND_SUPER),
    "Q3_K": Format(0, 96, 3, beyond=BEYOND_SUPER),
    "Q4_K": Format(16, 144, 4, beyond=BEYOND_SUPER),
    "Q5_K": Format(16, 176, 5, beyond=BEYOND_SUPER),
    "Q6_K": Format(0, 192, 6, beyond=BEYOND_SUPER),
}
PLAIN = ("F32", "F16", "BF16", "F64")


@dataclass(frozen=True, slots=True)
class Compared:
    """How stored numbers stand to those they should be: `how` (equal, rounded, quantised, wrong, unknown), the largest
    error, where, how many elements are off, and the factor between the two."""

    how: str
    error: float = 0.0
    place: tuple[int, ...] = ()
    off: int = 0
    factor: float = 1.0
    relative: float = 0.0


def compared(expected: Any, stored: Any, kind: str) -> Compared:
    """`expected` are real numbers, `stored` what a GGUF reader gives, `kind` the name of the format. NaN is equal to
    NaN here, and to no number."""
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    if kind not in FORMATS and kind not in PLAIN:
        return Compared("unknown")
    found = dequantize(stored, GGMLQuantizationType[kind]).reshape(-1)
    wanted = expected.astype(numpy.float32).reshape(-1)
    strange = numpy.isnan(found) != numpy.isnan(wanted)
    alike = numpy.isnan(found) & numpy.isnan(wanted) | numpy.isinf(found) & (found == wanted)
    found, wanted = numpy.where(alike, 0, found), numpy.where(alike, 0, wanted)
    if kind in PLAIN:
        off = found != rounded(wanted, kind)
        how = "equal" if numpy.array_equal(found, wanted) else "rounded"
    else:
        off, how = wrong_codes(wanted, found, stored, kind) | strange, "quantised"
    difference = numpy.abs(found.astype(numpy.float64) - wanted)
    size = float(numpy.linalg.norm(wanted.astype(numpy.float64)))
    relative = float(numpy.linalg.norm(difference)) / size if size else 0.0
    factor = float(found.astype(numpy.float64) @ wanted) / size**2 if size else 1.0
    beside = max(relative**2 - (factor - 1) ** 2, 0.0)     # the error that no factor explains
    drifts = how == "quantised" and abs(factor - 1) > FACTOR * beside + ROUNDED_SCALE
    if not numpy.isfinite(difference).all() or off.any() or drifts:
        how = "wrong"
    worst = int(numpy.argmax(numpy.where(off, difference, -1.0) if off.any() else difference))
    place = tuple(map(int, numpy.unravel_index(worst, expected.shape)))
    return Compared(how, float(difference[worst]), place, int(off.sum()), factor, relative)


def rounded(numbers: Any, kind: str) -> Any:
    """Numbers as a plain format holds them."""
    if kind == "F16":
        return numbers.astype(numpy.float16).astype(numpy.float32)
    if kind == "BF16":
        import torch

        return torch.from_numpy(numbers).bfloat16().float().numpy()
    return numbers


def wrong_codes(wanted: Any, found: Any, stored: Any, kind: str) -> Any:
    """Which numbers have another code than the nearest that their block can hold, or lie far beyond all of them."""
    form = FORMATS[kind]
    ends = [numbers_with(stored, form, byte, kind) for byte in (form.low, form.high)]
    low, high = numpy.minimum(*ends), numpy.maximum(*ends)
    step = (high - low) / (2**form.bits - 1)
    slack = numpy.maximum(numpy.abs(low), numpy.abs(high)) * ROUNDED_SCALE
    nearest = numpy.clip(wanted, low, high)
    far = numpy.abs(found - nearest) > step / 2 + slack
    widest = step.reshape(-1, BLOCK).max(1).repeat(BLOCK) if form.beyond > BEYOND and step.size % BLOCK == 0 else step
    return far | (numpy.abs(wanted - nearest) > form.beyond * widest + slack)


def numbers_with(stored: Any, form: Format, byte: int, kind: str) -> Any:
    """The numbers that the blocks hold if every code is this one."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
    from gguf.quants import dequantize

    which = GGMLQuantizationType[kind]
    blocks = numpy.array(stored).reshape(-1, GGML_QUANT_SIZES[which][1])
    blocks[:, form.start : form.end] = byte
    return dequantize(blocks, which).reshape(-1)
