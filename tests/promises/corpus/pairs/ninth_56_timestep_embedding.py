# DIFFERENT
import math
import torch


def left(t):
    """guided-diffusion"""
    half = 8
    freqs = torch.exp(-math.log(10000) * torch.arange(0, half, dtype=t.dtype) / half)
    args = t[:, None] * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


def right(t, dim=16, downscale_freq_shift=1):
    """diffusers, flip_sin_to_cos=True"""
    half_dim = dim // 2
    exponent = -math.log(10000) * torch.arange(half_dim, dtype=t.dtype)
    exponent = exponent / (half_dim - downscale_freq_shift)
    emb = t[:, None] * torch.exp(exponent)[None, :]
    emb = torch.cat([torch.sin(emb), torch.cos(emb)], dim=-1)
    return torch.cat([emb[:, half_dim:], emb[:, :half_dim]], dim=-1)


torch.manual_seed(3)
inputs = (torch.rand(5) * 50,)
