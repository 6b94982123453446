"""RWKV-4's time mixing (wkv): all pairs at once, or the recurrence with the running exponent of the CUDA kernel."""
import torch


def parallel(decay, first, k, v):
    t = torch.arange(k.shape[1])
    w = torch.exp(decay)
    ago = (t[:, None] - t[None, :] - 1)[None, :, :, None]          # 1, i, j, 1
    exponent = k[:, None] - ago * w
    exponent = torch.where(ago == -1, k[:, None] + first, exponent)
    weight = exponent.masked_fill(ago < -1, float("-inf")).softmax(2)
    return (weight * v[:, None]).sum(2)


def recurrent(decay, first, k, v):
    w = -torch.exp(decay)
    batch, length, channels = k.shape
    numerator = torch.zeros(batch, channels)
    denominator = torch.zeros(batch, channels)
    top = torch.full((batch, channels), -1e38)
    out = []
    for t in range(length):
        kt, vt = k[:, t], v[:, t]
        here = torch.maximum(top, first + kt)
        e1, e2 = torch.exp(top - here), torch.exp(first + kt - here)
        out.append((e1 * numerator + e2 * vt) / (e1 * denominator + e2))
        after = torch.maximum(top + w, kt)
        e1, e2 = torch.exp(top + w - after), torch.exp(kt - after)
        numerator, denominator, top = e1 * numerator + e2 * vt, e1 * denominator + e2, after
    return torch.stack(out, dim=1)


def inputs():
    return torch.randn(4), torch.randn(4), torch.randn(2, 5, 4), torch.randn(2, 5, 4)
