# EQUAL
# Axial 2D rotary embeddings (Pixtral / RoPE-ViT): as complex numbers over a grid, and by cos and sin of both axes
import torch

THETA = 100.0


def left(xq, xk):
    """[B, H, W, heads, D]; the first half of the pairs turns with the row, the second with the column."""
    B, H, W, N, D = xq.shape
    freqs = 1.0 / THETA ** (torch.arange(0, D, 4).to(xq.dtype) / D)
    rows = torch.outer(torch.arange(H).to(xq.dtype), freqs)
    cols = torch.outer(torch.arange(W).to(xq.dtype), freqs)
    angle = torch.cat([rows[:, None, :].expand(H, W, -1), cols[None].expand(H, W, -1)], -1)
    cis = torch.polar(torch.ones_like(angle), angle)[:, :, None, :]

    def rotate(x):
        pairs = torch.view_as_complex(x.reshape(B, H, W, N, D // 2, 2))
        return torch.view_as_real(pairs * cis).flatten(-2)
    return rotate(xq), rotate(xk)


def rotate_every_two(x):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def right(xq, xk):
    B, H, W, N, D = xq.shape
    inv = THETA ** (-torch.arange(0, D // 2, 2, dtype=xq.dtype) / (D // 2))
    inv = inv.repeat_interleave(2)                                          # both members of a pair

    def turn(x):
        by_row, by_col = x.chunk(2, dim=-1)
        ar = (torch.arange(H, dtype=x.dtype)[:, None] * inv)[:, None, None, :]
        ac = (torch.arange(W, dtype=x.dtype)[:, None] * inv)[None, :, None, :]
        by_row = by_row * ar.cos() + rotate_every_two(by_row) * ar.sin()
        by_col = by_col * ac.cos() + rotate_every_two(by_col) * ac.sin()
        return torch.cat([by_row, by_col], -1)
    return turn(xq), turn(xk)


def inputs():
    return torch.randn(2, 5, 7, 3, 8), torch.randn(2, 5, 7, 3, 8)
