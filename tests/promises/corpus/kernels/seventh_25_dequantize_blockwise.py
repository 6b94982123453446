"""8-bit optimizer state back to float32: a code book of 256 values, and one absolute maximum for every block of 64."""
import torch
import triton
import triton.language as tl


@triton.jit
def dequant_8bit_blockwise_kernel(a_ptr, c_ptr, code_ptr, absmax_ptr, n, QUANT_BLOCK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * QUANT_BLOCK * SPLIT
    offsets = block_start + tl.arange(0, QUANT_BLOCK * SPLIT)
    mask = offsets < n
    codes = tl.load(a_ptr + offsets, mask=mask, other=0).to(tl.int32)
    absmax = tl.load(absmax_ptr + offsets // QUANT_BLOCK, mask=mask, other=0.0)
    value = tl.load(code_ptr + codes)
    tl.store(c_ptr + offsets, value * absmax, mask=mask)


def dequantize_blockwise(a, absmax, code, blocksize=64):
    out = torch.empty(a.shape, dtype=torch.float32, device=a.device)
    n = a.numel()
    dequant_8bit_blockwise_kernel[(triton.cdiv(n, blocksize * 2),)](
        a, out, code, absmax, n, QUANT_BLOCK=blocksize, SPLIT=2
    )
    return out


def launch(n=500):
    quantized = torch.randint(0, 256, (n,), dtype=torch.uint8, device="cuda")
    code = torch.linspace(-1.0, 1.0, 256, device="cuda") ** 3
    absmax = torch.rand((n + 63) // 64, device="cuda")
    return dequantize_blockwise(quantized, absmax, code)


def reference(quantized, code, absmax):
    block = torch.arange(quantized.shape[0], device=quantized.device) // 64
    return code[quantized.long()] * absmax[block]


TRUTH = "verified"
