"""Attention inside the windows of a Swin block: relative position bias from its table, and the shifted windows' mask."""
import torch
import triton
import triton.language as tl


@triton.jit
def window_attention_kernel(
    qkv, table, mask, out,
    num_windows, heads, scale,
    WS: tl.constexpr, D: tl.constexpr,
):
    N: tl.constexpr = WS * WS
    bw = tl.program_id(0)
    h = tl.program_id(1)
    tok = tl.arange(0, N)
    d = tl.arange(0, D)
    row = (bw * N + tok) * 3 * heads * D + h * D
    q = tl.load(qkv + row[:, None] + d[None, :]) * scale
    k = tl.load(qkv + row[:, None] + heads * D + d[None, :])
    v = tl.load(qkv + row[:, None] + 2 * heads * D + d[None, :])

    dy = tok[:, None] // WS - tok[None, :] // WS + (WS - 1)
    dx = tok[:, None] % WS - tok[None, :] % WS + (WS - 1)
    bias = tl.load(table + (dy * (2 * WS - 1) + dx) * heads + h)
    shifted = tl.load(mask + (bw % num_windows) * N * N + tok[:, None] * N + tok[None, :])

    s = tl.dot(q, tl.trans(k)) + bias + shifted
    s = s - tl.max(s, axis=1)[:, None]
    p = tl.exp(s)
    p = p / tl.sum(p, axis=1)[:, None]
    o = tl.dot(p, v)
    tl.store(out + ((bw * N + tok) * heads + h)[:, None] * D + d[None, :], o)


def launch(batch=2, num_windows=3, heads=2):
    ws, d = 4, 16
    qkv = torch.randn(batch * num_windows, ws * ws, 3, heads, d, device="cuda")
    table = torch.randn((2 * ws - 1) ** 2, heads, device="cuda")
    mask = torch.where(torch.rand(num_windows, ws * ws, ws * ws, device="cuda") < 0.3, -100.0, 0.0)
    out = torch.empty(batch * num_windows, ws * ws, heads * d, device="cuda")
    window_attention_kernel[(batch * num_windows, heads)](
        qkv, table, mask, out, num_windows, heads, d**-0.5, WS=ws, D=d
    )
    return out


def reference(qkv, table, mask):
    q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each [BW, H, 16, d]
    heads, nw = q.shape[1], mask.shape[0]
    y, x = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
    y, x = y.flatten(), x.flatten()
    index = (y[:, None] - y + 3) * 7 + (x[:, None] - x + 3)
    bias = table[index.to(table.device)].permute(2, 0, 1)
    s = (q * 0.25) @ k.transpose(-2, -1) + bias
    s = (s.unflatten(0, (-1, nw)) + mask[:, None]).flatten(0, 1)
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


TRUTH = "verified"
