"""Vision transformer with axial RoPE: half of each head turns by the row, half by the column."""
import torch
from torch.nn import functional as F

ROWS, COLS, HD = 3, 4, 8


def turn(x, row, col):
    freq = 100.0 ** (-torch.arange(HD // 4, dtype=x.dtype) / (HD // 4))
    ang = torch.cat([row[:, None] * freq, col[:, None] * freq], dim=-1).repeat(1, 2)
    a, b = x.chunk(2, dim=-1)
    return x * ang.cos() + torch.cat([-b, a], dim=-1) * ang.sin()


def left(q, k, v):
    n = torch.arange(ROWS * COLS)
    row, col = (n // COLS).to(q.dtype), (n % COLS).to(q.dtype)
    return F.scaled_dot_product_attention(turn(q, row, col), turn(k, row, col), v)


def right(q, k, v):
    row, col = torch.meshgrid(torch.arange(ROWS, dtype=q.dtype), torch.arange(COLS, dtype=q.dtype), indexing="xy")
    row, col = row.flatten(), col.flatten()
    s = turn(q, row, col) @ turn(k, row, col).transpose(-1, -2)
    return (s * HD ** -0.5).softmax(-1) @ v


inputs = (torch.randn(2, 3, ROWS * COLS, HD), torch.randn(2, 3, ROWS * COLS, HD), torch.randn(2, 3, ROWS * COLS, HD))
