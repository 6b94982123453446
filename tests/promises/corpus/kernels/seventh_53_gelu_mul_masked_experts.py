"""Activation between the two grouped GEMMs of a masked (DeepEP low latency) MoE layer.

Every expert owns `max_tokens` rows, of which only the first masked_m[e] hold tokens.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def _gelu_and_mul_masked_kernel(
    gateup_ptr, stride_ge, stride_gt,
    out_ptr, stride_oe, stride_ot,
    masked_m_ptr,
    size_n,
    BLOCK_N: tl.constexpr,
    NUM_STAGE: tl.constexpr,
):
    expert_id = tl.program_id(2)
    token_block = tl.program_id(1)
    num_token_blocks = tl.num_programs(1)
    hidden_block = tl.program_id(0)

    tokens = tl.load(masked_m_ptr + expert_id)
    offs_n = hidden_block * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = offs_n < size_n
    gate_base = gateup_ptr + expert_id * stride_ge + offs_n
    out_base = out_ptr + expert_id * stride_oe + offs_n

    for t in tl.range(token_block, tokens, num_token_blocks, num_stages=NUM_STAGE):
        gate = tl.load(gate_base + t * stride_gt, mask=n_mask, other=0.0).to(tl.float32)
        up = tl.load(gate_base + t * stride_gt + size_n, mask=n_mask, other=0.0).to(tl.float32)
        inner = 0.7978845608028654 * (gate + 0.044715 * gate * gate * gate)
        # tanh(z) = 2 * sigmoid(2z) - 1
        tanh = 2.0 * tl.sigmoid(2.0 * inner) - 1.0
        act = 0.5 * gate * (1.0 + tanh)
        tl.store(out_base + t * stride_ot, (act * up).to(out_ptr.dtype.element_ty), mask=n_mask)


def gelu_and_mul_masked_fwd(gateup, out, masked_m):
    E, T, two_n = gateup.shape
    N = two_n // 2
    BLOCK_N = 64
    grid = (triton.cdiv(N, BLOCK_N), 4, E)
    _gelu_and_mul_masked_kernel[grid](
        gateup, gateup.stride(0), gateup.stride(1),
        out, out.stride(0), out.stride(1),
        masked_m, N, BLOCK_N=BLOCK_N, NUM_STAGE=3,
    )


def launch(E=3, T=11, N=72):
    gateup = torch.randn(E, T, 2 * N, device="cuda", dtype=torch.bfloat16)
    masked_m = torch.randint(0, T + 1, (E,), dtype=torch.int32, device="cuda")
    out = torch.zeros(E, T, N, device="cuda", dtype=torch.bfloat16)
    gelu_and_mul_masked_fwd(gateup, out, masked_m)
    return out


def reference(gateup, masked_m):
    gate, up = gateup.float().chunk(2, dim=-1)
    y = (torch.nn.functional.gelu(gate, approximate="tanh") * up).to(gateup.dtype)
    rows = torch.arange(gateup.shape[1], device=gateup.device)
    valid = rows[None, :] < masked_m[:, None]
    return torch.where(valid[:, :, None], y, torch.zeros_like(y))


TRUTH = "verified"
