"""Dequantise four-bit codes of a codebook by blocks: two codes in a byte, the high one first, one absmax for 64 weights."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def dequant_nf4_kernel(packed_ptr, code_ptr, absmax_ptr, out_ptr, num_bytes, QBLOCK: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < num_bytes
    byte = tl.load(packed_ptr + offs, mask=mask, other=0)
    scale = tl.load(absmax_ptr + offs // (QBLOCK // 2), mask=mask, other=0.0)
    high = (byte >> 4).to(tl.int32)
    low = (byte & 0xF).to(tl.int32)
    first = tl.load(code_ptr + high) * scale
    second = tl.load(code_ptr + low) * scale
    both = tl.interleave(first, second)
    out_offs = pid * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out_ptr + out_offs, both, mask=out_offs < num_bytes * 2)


def launch():
    blocks = 37
    packed = torch.randint(0, 256, (blocks, 32), dtype=torch.uint8)
    absmax = torch.rand(blocks) + 0.1
    code = torch.tensor([-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0,
                         0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.7230, 1.0])
    out = torch.empty(blocks, 64)
    n = packed.numel()
    dequant_nf4_kernel[(triton.cdiv(n, 256),)](packed, code, absmax, out, n, QBLOCK=64, BLOCK=256)
    return out


def reference(packed, code, absmax):
    p = packed.to(torch.int64)
    pairs = torch.stack([code[p >> 4], code[p & 15]], dim=-1)
    return pairs.flatten(1) * absmax[:, None]
