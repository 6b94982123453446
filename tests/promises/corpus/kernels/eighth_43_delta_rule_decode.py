# broken: the output is read off the state as it was before the update
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def delta_step_kernel(q_ptr, k_ptr, v_ptr, beta_ptr, s_ptr, o_ptr, K, V, BK: tl.constexpr, BV: tl.constexpr):
    bh = tl.program_id(0)
    k_i = tl.arange(0, BK)
    v_i = tl.program_id(1) * BV + tl.arange(0, BV)
    q = tl.load(q_ptr + bh * K + k_i, mask=k_i < K, other=0.0)
    k = tl.load(k_ptr + bh * K + k_i, mask=k_i < K, other=0.0)
    v = tl.load(v_ptr + bh * V + v_i, mask=v_i < V, other=0.0)
    beta = tl.load(beta_ptr + bh)
    mask = (k_i[:, None] < K) & (v_i[None, :] < V)
    places = s_ptr + bh * K * V + k_i[:, None] * V + v_i[None, :]
    s = tl.load(places, mask=mask, other=0.0)
    u = beta * (v - tl.sum(s * k[:, None], axis=0))
    new = s + k[:, None] * u[None, :]
    tl.store(places, new, mask=mask)
    tl.store(o_ptr + bh * V + v_i, tl.sum(s * q[:, None], axis=0), mask=v_i < V)


def launch(BH=3, K=12, V=20):
    q = torch.randn(BH, K, device="cuda")
    k = F.normalize(torch.randn(BH, K, device="cuda"), dim=-1)
    v = torch.randn(BH, V, device="cuda")
    beta = torch.rand(BH, device="cuda")
    state = torch.randn(BH, K, V, device="cuda")
    o = torch.empty_like(v)
    delta_step_kernel[(BH, triton.cdiv(V, 16))](q, k, v, beta, state, o, K, V, BK=triton.next_power_of_2(K), BV=16)
    return o, state


def reference(q, k, v, beta, state):
    u = beta[:, None] * (v - torch.einsum("bk,bkv->bv", k, state))
    new = state + k[:, :, None] * u[:, None, :]
    return torch.einsum("bk,bkv->bv", q, new), new


TRUTH = "broken"
