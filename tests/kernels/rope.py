"""Rotary position embedding: the two halves of each head are rotated by the angle of the token's position."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, H, HALF, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < HALF
    cos = tl.load(cos_ptr + token * HALF + lanes, mask=inside)
    sin = tl.load(sin_ptr + token * HALF + lanes, mask=inside)
    at = (token * H + head) * 2 * HALF + lanes
    first = tl.load(x_ptr + at, mask=inside)
    second = tl.load(x_ptr + at + HALF, mask=inside)
    tl.store(out_ptr + at, first * cos - second * sin, mask=inside)
    tl.store(out_ptr + at + HALF, second * cos + first * sin, mask=inside)


def launch(T=5, H=3, HALF=12):
    x = torch.randn(T, H, 2 * HALF, device="cuda")
    cos = torch.randn(T, HALF, device="cuda")
    sin = torch.randn(T, HALF, device="cuda")
    out = torch.empty_like(x)
    rope_kernel[(T, H)](x, cos, sin, out, H, HALF, BLOCK=triton.next_power_of_2(HALF))
    return out


def reference(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


BROKEN = {
    "wrong_sign": ("first * cos - second * sin, mask", "first * cos + second * sin, mask", "value", "value"),
    "mask_le": ("inside = lanes < HALF", "inside = lanes <= HALF", "race", "fault"),
    "angle_of_the_head": ("sin_ptr + token * HALF", "sin_ptr + head * HALF", "value", "value"),
    "halves_overlap": ("out_ptr + at + HALF, second", "out_ptr + at + HALF - 1, second", "value", "value"),
    "missing_head": ("rope_kernel[(T, H)]", "rope_kernel[(T, H - 1)]", "coverage", "value"),
}
