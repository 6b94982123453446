"""Causal linear attention chunk by chunk: a masked product inside the chunk plus the queries times the state of all earlier chunks."""
import torch
import triton
import triton.language as tl


@triton.jit
def linear_attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, T, scale, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr):
    bh = tl.program_id(0)
    rk = tl.arange(0, DK)
    rv = tl.arange(0, DV)
    rc = tl.arange(0, BT)
    state = tl.zeros((DK, DV), tl.float32)
    for start in range(0, T, BT):
        rt = start + rc
        inside = rt[:, None] < T
        rows = (bh * T + rt)[:, None]
        q = tl.load(q_ptr + rows * DK + rk[None, :], mask=inside, other=0.0) * scale
        k = tl.load(k_ptr + rows * DK + rk[None, :], mask=inside, other=0.0)
        v = tl.load(v_ptr + rows * DV + rv[None, :], mask=inside, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee")
        s = tl.where(rc[:, None] >= rc[None, :], s, 0.0)
        o = tl.dot(s, v, input_precision="ieee") + tl.dot(q, state, input_precision="ieee")
        state += tl.dot(tl.trans(k), v, input_precision="ieee")
        tl.store(o_ptr + rows * DV + rv[None, :], o, mask=inside)


def launch(batch=2, heads=3, time=50):
    q = torch.randn(batch, heads, time, 16, device="cuda")
    k = torch.randn(batch, heads, time, 16, device="cuda")
    v = torch.randn(batch, heads, time, 32, device="cuda")
    o = torch.empty_like(v)
    linear_attention_kernel[(batch * heads,)](q, k, v, o, time, 0.25, DK=16, DV=32, BT=16)
    return o


def reference(q, k, v):
    scores = (q * 0.25) @ k.transpose(-1, -2)
    return scores.tril() @ v


TRUTH = "verified"
