"""Vision: Swin's cyclic shift and window partition in one layout kernel, and its inverse with the residual added."""
import torch
import triton
import triton.language as tl


@triton.jit
def window_partition_kernel(
    x_ptr, out_ptr, H, W, C, nh, nw, shift,
    WIN: tl.constexpr, BLOCK_C: tl.constexpr,
):
    win = tl.program_id(0)
    tok = tl.program_id(1)
    b = win // (nh * nw)
    wy = (win // nw) % nh
    wx = win % nw
    y = (wy * WIN + tok // WIN + shift) % H
    x = (wx * WIN + tok % WIN + shift) % W
    for c0 in range(0, C, BLOCK_C):
        c = c0 + tl.arange(0, BLOCK_C)
        v = tl.load(x_ptr + ((b * H + y) * W + x) * C + c, mask=c < C)
        tl.store(out_ptr + (win * WIN * WIN + tok) * C + c, v, mask=c < C)


@triton.jit
def window_reverse_add_kernel(
    win_ptr, res_ptr, out_ptr, H, W, C, nh, nw, shift,
    WIN: tl.constexpr, BLOCK_C: tl.constexpr,
):
    pix = tl.program_id(0)
    b = pix // (H * W)
    y = ((pix // W) % H + H - shift) % H
    x = (pix % W + W - shift) % W
    win = (b * nh + y // WIN) * nw + x // WIN
    tok = (y % WIN) * WIN + x % WIN
    for c0 in range(0, C, BLOCK_C):
        c = c0 + tl.arange(0, BLOCK_C)
        v = tl.load(win_ptr + (win * WIN * WIN + tok) * C + c, mask=c < C)
        r = tl.load(res_ptr + pix * C + c, mask=c < C)
        tl.store(out_ptr + pix * C + c, v + r, mask=c < C)


def launch(batch=2, nh=3, nw=2, channels=20):
    win, shift = 4, 2
    H, W = nh * win, nw * win
    x = torch.randn(batch, H, W, channels, device="cuda")
    y = torch.randn(batch * nh * nw, win * win, channels, device="cuda")
    windows = torch.empty_like(y)
    out = torch.empty_like(x)
    window_partition_kernel[(batch * nh * nw, win * win)](x, windows, H, W, channels, nh, nw, shift, WIN=win, BLOCK_C=16)
    window_reverse_add_kernel[(batch * H * W,)](y, x, out, H, W, channels, nh, nw, shift, WIN=win, BLOCK_C=16)
    return windows, out


def reference(x, y, nh, nw):
    B, H, W, C = x.shape
    rolled = torch.roll(x, shifts=(-2, -2), dims=(1, 2))
    windows = rolled.view(B, nh, 4, nw, 4, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, C)
    back = y.view(B, nh, nw, 4, 4, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)
    return windows, x + torch.roll(back, shifts=(2, 2), dims=(1, 2))

TRUTH = "verified"
