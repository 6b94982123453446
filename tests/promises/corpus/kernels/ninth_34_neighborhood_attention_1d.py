"""NATTEN in one dimension: every query sees exactly WINDOW keys, the window pushed inwards at both ends."""
import torch
import triton
import triton.language as tl


@triton.jit
def na1d_fwd_kernel(
    q_ptr, k_ptr, v_ptr, rpb_ptr, out_ptr,
    stride_b, stride_h, stride_l, stride_rpb,
    heads, L, D, scale,
    WINDOW: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr,
):
    pid_bh = tl.program_id(0)
    b, h = pid_bh // heads, pid_bh % heads
    base = b * stride_b + h * stride_h
    i = tl.program_id(1) * BLOCK_L + tl.arange(0, BLOCK_L)
    d = tl.arange(0, BLOCK_D)
    mask_i = i < L
    mask = mask_i[:, None] & (d[None, :] < D)

    NB: tl.constexpr = WINDOW // 2
    start = tl.maximum(i - NB, 0)
    start = tl.minimum(start, L - WINDOW)

    q = tl.load(q_ptr + base + i[:, None] * stride_l + d[None, :], mask=mask, other=0.0) * scale
    m = tl.full((BLOCK_L,), float("-inf"), dtype=tl.float32)
    l = tl.zeros((BLOCK_L,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_L, BLOCK_D), dtype=tl.float32)
    for w in range(WINDOW):
        j = start + w
        k = tl.load(k_ptr + base + j[:, None] * stride_l + d[None, :], mask=mask, other=0.0)
        bias = tl.load(rpb_ptr + h * stride_rpb + (j - i + WINDOW - 1), mask=mask_i, other=0.0)
        s = tl.sum(q * k, axis=1) + bias
        m_new = tl.maximum(m, s)
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        v = tl.load(v_ptr + base + j[:, None] * stride_l + d[None, :], mask=mask, other=0.0)
        l = l * alpha + p
        acc = acc * alpha[:, None] + p[:, None] * v
        m = m_new
    tl.store(out_ptr + base + i[:, None] * stride_l + d[None, :], acc / l[:, None], mask=mask)


def launch(batch=2, heads=3, length=21, dim=13):
    q = torch.randn(batch, heads, length, dim, device="cuda")
    k = torch.randn(batch, heads, length, dim, device="cuda")
    v = torch.randn(batch, heads, length, dim, device="cuda")
    rpb = torch.randn(heads, 2 * 7 - 1, device="cuda")
    out = torch.empty_like(q)
    grid = lambda meta: (batch * heads, triton.cdiv(length, meta["BLOCK_L"]))
    na1d_fwd_kernel[grid](
        q, k, v, rpb, out,
        q.stride(0), q.stride(1), q.stride(2), rpb.stride(0),
        heads, length, dim, 0.25,
        WINDOW=7, BLOCK_L=16, BLOCK_D=triton.next_power_of_2(dim),
    )
    return out


launch.assume = ["length >= 7"]


def reference(q, k, v, rpb):
    L = q.shape[2]
    i = torch.arange(L, device=q.device)
    start = (i - 3).clamp(0, L - 7)
    j = start[:, None] + torch.arange(7, device=q.device)               # L x 7
    s = (0.25 * q[:, :, :, None, :] * k[:, :, j]).sum(-1) + rpb[:, j - i[:, None] + 6]
    return (torch.softmax(s, dim=-1)[..., None] * v[:, :, j]).sum(-2)


TRUTH = "verified"
