import torch
import triton
import triton.language as tl


@triton.jit
def retention_step_kernel(q, k, v, g, o, T, H, D: tl.constexpr):
    """h_t = gamma_h h_{t-1} + k_t v_t, o_t = q_t h_t: one program for each head, state in registers."""
    bh = tl.program_id(0)
    gamma = tl.load(g + bh % H)
    i = tl.arange(0, D)
    h = tl.zeros([D, D], tl.float32)
    base = bh * T * D
    for t in range(T):
        kt = tl.load(k + base + t * D + i)
        vt = tl.load(v + base + t * D + i)
        qt = tl.load(q + base + t * D + i)
        h = gamma * h + kt[:, None] * vt[None, :]
        tl.store(o + base + t * D + i, tl.sum(qt[:, None] * h, 0))


def launch(B=2, H=2, T=9):
    q = torch.randn(B, H, T, 16)
    k = torch.randn(B, H, T, 16)
    v = torch.randn(B, H, T, 16)
    gamma = 0.5 + 0.5 * torch.rand(H)
    o = torch.empty_like(v)
    retention_step_kernel[(B * H,)](q, k, v, gamma, o, T, H, D=16)
    return o


def reference(q, k, v, gamma):
    T = q.shape[2]
    t = torch.arange(T)
    gap = (t[:, None] - t[None, :]).clamp(min=0).to(q.dtype)
    decay = torch.tril(gamma[:, None, None] ** gap)
    return ((q @ k.transpose(-1, -2)) * decay) @ v


TRUTH = "verified"
