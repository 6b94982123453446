"""Mu-law decoding of 8-bit audio codes, as torchaudio's MuLawDecoding."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def mu_law_decode_kernel(code_ptr, wave_ptr, n, log1p_mu, MU: tl.constexpr, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    code = tl.load(code_ptr + idx, mask=mask, other=0).to(tl.float32)
    y = 2.0 * code / MU - 1.0
    mag = (tl.exp(tl.abs(y) * log1p_mu) - 1.0) / MU
    wave = tl.where(y >= 0, mag, -mag)
    tl.store(wave_ptr + idx, wave, mask=mask)


def launch(batch=3, samples=211):
    codes = torch.randint(0, 256, (batch, samples), device="cuda")
    wave = torch.empty(batch, samples, device="cuda", dtype=torch.float32)
    n = codes.numel()
    mu_law_decode_kernel[(triton.cdiv(n, 128),)](codes, wave, n, math.log1p(255), MU=255, BLOCK=128)
    return wave


def reference(codes):
    mu = 255.0
    x = codes.to(torch.float32) / mu * 2 - 1.0
    return torch.sign(x) * (torch.exp(torch.abs(x) * math.log1p(255)) - 1.0) / mu


TRUTH = "verified"
