"""MXFP4 to float32: two E2M1 numbers in a byte (the low nibble first), an E8M0 exponent for each 32 of them."""
import torch
import triton
import triton.language as tl


@triton.jit
def e2m1_to_float(x):
    sign = tl.where((x & 8) != 0, -1.0, 1.0)
    exponent = (x >> 1) & 3
    mantissa = (x & 1).to(tl.float32)
    normal = (1.0 + 0.5 * mantissa) * tl.exp2((exponent - 1).to(tl.float32))
    return sign * tl.where(exponent == 0, 0.5 * mantissa, normal)


@triton.jit
def mxfp4_dequantize_kernel(blocks_ptr, scales_ptr, out_ptr, num_groups, GROUPS: tl.constexpr):
    g = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    b = tl.arange(0, 16)
    ok = (g < num_groups)[:, None] & (b < 16)[None, :]
    byte = tl.load(blocks_ptr + g[:, None] * 16 + b[None, :], mask=ok, other=0).to(tl.int32)
    e = tl.load(scales_ptr + g, mask=g < num_groups, other=127).to(tl.int32)
    scale = tl.exp2((e - 127).to(tl.float32))[:, None]
    lo = e2m1_to_float(byte & 15) * scale
    hi = e2m1_to_float((byte >> 4) & 15) * scale
    both = tl.interleave(lo, hi)  # [GROUPS, 32]
    k = tl.arange(0, 32)
    tl.store(out_ptr + g[:, None] * 32 + k[None, :], both, mask=(g < num_groups)[:, None])


def launch(rows=3, groups=7):
    blocks = torch.randint(0, 256, (rows, groups, 16), dtype=torch.uint8, device="cuda")
    scales = torch.randint(120, 135, (rows, groups), dtype=torch.uint8, device="cuda")
    out = torch.empty(rows, groups * 32, device="cuda")
    mxfp4_dequantize_kernel[(triton.cdiv(rows * groups, 4),)](blocks, scales, out, rows * groups, GROUPS=4)
    return out


FP4_VALUES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]


def reference(blocks, scales):
    lut = torch.tensor(FP4_VALUES, device=blocks.device)
    q = blocks.int()
    pair = torch.stack([lut[q & 15], lut[q >> 4]], dim=-1).flatten(2)
    return (pair * torch.exp2(scales.float() - 127)[..., None]).flatten(1)


TRUTH = "verified"
