"""Multimodal rotary embedding of Qwen2-VL: time, height and width share the head."""
import torch

HEAD_DIM = 16
SECTIONS = [2, 3, 3]
THETA = 10000.0


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def left(q, k, position_ids):
    """q, k (batch, heads, time, dim); position_ids (3, batch, time), as in Transformers."""
    inv_freq = 1.0 / (THETA ** (torch.arange(0, HEAD_DIM, 2, dtype=q.dtype) / HEAD_DIM))
    expanded = inv_freq[None, None, :, None].expand(3, position_ids.shape[1], -1, 1)
    freqs = (expanded @ position_ids[:, :, None, :].to(q.dtype)).transpose(2, 3)
    emb = torch.cat((freqs, freqs), dim=-1)
    cos, sin = emb.cos(), emb.sin()
    sections = SECTIONS * 2
    cos = torch.cat([m[i % 3] for i, m in enumerate(cos.split(sections, dim=-1))], dim=-1).unsqueeze(1)
    sin = torch.cat([m[i % 3] for i, m in enumerate(sin.split(sections, dim=-1))], dim=-1).unsqueeze(1)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


AXIS = torch.tensor([axis for axis, n in enumerate(SECTIONS) for _ in range(n)])


def right(q, k, position_ids):
    inv_freq = THETA ** (-torch.arange(HEAD_DIM // 2, dtype=q.dtype) * 2 / HEAD_DIM)
    pos = position_ids.to(q.dtype)[AXIS]  # (dim / 2, batch, time)
    angle = (pos * inv_freq[:, None, None]).permute(1, 2, 0)[:, None]
    cos, sin = torch.cos(angle), torch.sin(angle)

    def rotate(x):
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    return rotate(q), rotate(k)


def inputs():
    return torch.randn(2, 3, 6, HEAD_DIM), torch.randn(2, 1, 6, HEAD_DIM), torch.randint(0, 9, (3, 2, 6))
