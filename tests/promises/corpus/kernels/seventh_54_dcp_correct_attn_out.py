"""Decode context parallelism: rank `rank` corrects its partial attention by the lses of all ranks, before the reduce-scatter."""
import torch
import triton
import triton.language as tl


@triton.jit
def _correct_attn_cp_out_kernel(
    outputs_ptr, new_output_ptr, lses_ptr, vlse_ptr,
    outputs_stride_B, outputs_stride_H,
    lses_stride_N, lses_stride_B, lses_stride_H,
    lse_idx,
    num_ranks,
    HEAD_DIM: tl.constexpr,
    N_ROUNDED: tl.constexpr,
):
    batch_idx = tl.program_id(axis=0).to(tl.int64)
    head_idx = tl.program_id(axis=1).to(tl.int64)
    d_offsets = tl.arange(0, HEAD_DIM)
    n_offsets = tl.arange(0, N_ROUNDED)

    lse_offsets = n_offsets * lses_stride_N + batch_idx * lses_stride_B + head_idx * lses_stride_H
    lse = tl.load(lses_ptr + lse_offsets, mask=n_offsets < num_ranks, other=-float("inf"))
    lse_max = tl.max(lse, axis=0)
    total = tl.log(tl.sum(tl.exp(lse - lse_max), axis=0)) + lse_max
    tl.store(vlse_ptr + batch_idx * lses_stride_B + head_idx * lses_stride_H, total)

    mine = tl.load(lses_ptr + lse_idx * lses_stride_N + batch_idx * lses_stride_B + head_idx * lses_stride_H)
    factor = tl.exp(mine - total)
    at = batch_idx * outputs_stride_B + head_idx * outputs_stride_H + d_offsets
    tl.store(new_output_ptr + at, tl.load(outputs_ptr + at) * factor)


def correct_attn_out(out, lses, cp_rank):
    B, H, D = out.shape
    N = lses.shape[0]
    new_out, lse = torch.empty_like(out), torch.empty_like(lses[0])
    _correct_attn_cp_out_kernel[(B, H)](
        out, new_out, lses, lse,
        out.stride(0), out.stride(1), *lses.stride(),
        cp_rank, N, HEAD_DIM=D, N_ROUNDED=triton.next_power_of_2(N),
    )
    return new_out, lse


def launch(N=6, B=5, H=3):
    out = torch.randn(B, H, 64, device="cuda")
    lses = torch.randn(N, B, H, device="cuda")
    return correct_attn_out(out, lses, 1)


def reference(out, lses):
    lse = torch.logsumexp(lses, dim=0)
    return out * torch.softmax(lses, dim=0)[1].unsqueeze(-1), lse


TRUTH = "verified"
