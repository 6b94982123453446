"""Capacity-based MoE first layer: each expert gathers the tokens in its slots (-1 is an empty slot) and computes silu(gate) * up in one grouped GEMM."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def moe_gate_up_kernel(
    x_ptr, w_ptr, slots_ptr, out_ptr,
    C, F_DIM, K,
    stride_xt, stride_xk, stride_we, stride_wf, stride_wk, stride_se, stride_oe, stride_oc, stride_of,
    BLOCK_C: tl.constexpr, BLOCK_F: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(0)
    expert = tl.program_id(1)
    num_f = tl.cdiv(F_DIM, BLOCK_F)
    pid_c = pid // num_f
    pid_f = pid % num_f

    offs_c = pid_c * BLOCK_C + tl.arange(0, BLOCK_C)
    offs_f = pid_f * BLOCK_F + tl.arange(0, BLOCK_F)
    token = tl.load(slots_ptr + expert * stride_se + offs_c, mask=offs_c < C, other=-1)
    used = token >= 0
    f_mask = offs_f < F_DIM
    w_base = w_ptr + expert * stride_we

    gate = tl.zeros((BLOCK_C, BLOCK_F), dtype=tl.float32)
    up = tl.zeros((BLOCK_C, BLOCK_F), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        offs_k = k0 + tl.arange(0, BLOCK_K)
        k_mask = offs_k < K
        x = tl.load(
            x_ptr + token[:, None] * stride_xt + offs_k[None, :] * stride_xk,
            mask=used[:, None] & k_mask[None, :], other=0.0,
        )
        w_off = offs_f[None, :] * stride_wf + offs_k[:, None] * stride_wk
        w_mask = k_mask[:, None] & f_mask[None, :]
        w_gate = tl.load(w_base + w_off, mask=w_mask, other=0.0)
        w_up = tl.load(w_base + F_DIM * stride_wf + w_off, mask=w_mask, other=0.0)
        gate += tl.dot(x, w_gate)
        up += tl.dot(x, w_up)

    h = gate * tl.sigmoid(gate) * up
    out_ptrs = out_ptr + expert * stride_oe + offs_c[:, None] * stride_oc + offs_f[None, :] * stride_of
    tl.store(out_ptrs, h, mask=(offs_c[:, None] < C) & f_mask[None, :])


def launch(T=12, E=3, C=18, F_DIM=24, K=40):
    x = torch.randn(T, K, device="cuda")
    w = torch.randn(E, 2 * F_DIM, K, device="cuda")
    slots = torch.randint(-1, T, (E, C), device="cuda")
    out = torch.empty(E, C, F_DIM, device="cuda")
    grid = lambda meta: (triton.cdiv(C, meta["BLOCK_C"]) * triton.cdiv(F_DIM, meta["BLOCK_F"]), E)
    moe_gate_up_kernel[grid](
        x, w, slots, out,
        C, F_DIM, K,
        x.stride(0), x.stride(1), w.stride(0), w.stride(1), w.stride(2), slots.stride(0),
        out.stride(0), out.stride(1), out.stride(2),
        BLOCK_C=16, BLOCK_F=16, BLOCK_K=32,
    )
    return out


def reference(x, w, slots):
    gathered = x[slots.clamp(min=0)] * (slots >= 0)[..., None]
    gate, up = torch.einsum("eck,efk->ecf", gathered, w).chunk(2, dim=-1)
    return F.silu(gate) * up

TRUTH = "verified"
