"""Log-mel features: power of a complex spectrum times a filter bank, with a floor under the logarithm."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def log_mel_kernel(re_ptr, im_ptr, fb_ptr, out_ptr, frames, bins, mels, floor, BLOCK_T: tl.constexpr,
                   BLOCK_M: tl.constexpr, BLOCK_F: tl.constexpr):
    offs_t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_T, BLOCK_M), dtype=tl.float32)
    for start in range(0, bins, BLOCK_F):
        offs_f = start + tl.arange(0, BLOCK_F)
        spec_mask = (offs_t[:, None] < frames) & (offs_f[None, :] < bins)
        spec_offs = offs_t[:, None] * bins + offs_f[None, :]
        re = tl.load(re_ptr + spec_offs, mask=spec_mask, other=0.0)
        im = tl.load(im_ptr + spec_offs, mask=spec_mask, other=0.0)
        fb = tl.load(fb_ptr + offs_f[:, None] * mels + offs_m[None, :],
                     mask=(offs_f[:, None] < bins) & (offs_m[None, :] < mels), other=0.0)
        acc += tl.dot(re * re + im * im, fb, input_precision="ieee")
    value = tl.log(tl.maximum(acc, floor)) * 0.4342944819032518
    mask = (offs_t[:, None] < frames) & (offs_m[None, :] < mels)
    tl.store(out_ptr + offs_t[:, None] * mels + offs_m[None, :], value, mask=mask)


def launch():
    re, im = torch.randn(75, 201), torch.randn(75, 201)
    bank = torch.rand(201, 80)
    frames, bins = re.shape
    mels = bank.shape[1]
    out = torch.empty(frames, mels)
    log_mel_kernel[(triton.cdiv(frames, 32), triton.cdiv(mels, 32))](re, im, bank, out, frames, bins, mels, 1e-10,
                                                                    BLOCK_T=32, BLOCK_M=32, BLOCK_F=32)
    return out


def reference(re, im, bank):
    return torch.log10(((re.square() + im.square()) @ bank).clamp(min=1e-10))
