# broken: programs of all time blocks store into the same state instead of adding to it
import torch
import triton
import triton.language as tl


@triton.jit
def kv_state_kernel(k_ptr, v_ptr, s_ptr, T, BT: tl.constexpr, K: tl.constexpr, V: tl.constexpr):
    bh = tl.program_id(0)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    i = tl.arange(0, K)
    j = tl.arange(0, V)
    k = tl.load(k_ptr + (bh * T + t[None, :]) * K + i[:, None], mask=t[None, :] < T, other=0.0)
    v = tl.load(v_ptr + (bh * T + t[:, None]) * V + j[None, :], mask=t[:, None] < T, other=0.0)
    part = tl.dot(k, v, input_precision="ieee")
    tl.store(s_ptr + bh * K * V + i[:, None] * V + j[None, :], part)


def launch(BH=2, T=40):
    k = torch.randn(BH, T, 16, device="cuda")
    v = torch.randn(BH, T, 32, device="cuda")
    state = torch.zeros(BH, 16, 32, device="cuda")
    kv_state_kernel[(BH, triton.cdiv(T, 16))](k, v, state, T, BT=16, K=16, V=32)
    return state


def reference(k, v):
    return k.transpose(1, 2) @ v


TRUTH = "broken"
