"""Mamba-2: C B^T inside every chunk and group, the sequence not being a multiple of the chunk."""
import torch
import triton
import triton.language as tl


@triton.jit
def _bmm_chunk_fwd_kernel(
    a_ptr, b_ptr, out_ptr,
    seqlen, chunk_size, K, ngroups,
    stride_a_batch, stride_a_seqlen, stride_a_head,
    stride_out_batch, stride_out_chunk, stride_out_head, stride_outm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_b = tl.program_id(axis=1)
    pid_ch = tl.program_id(axis=2)
    pid_c = pid_ch // ngroups
    pid_h = pid_ch - pid_c * ngroups
    num_pid_n = tl.cdiv(chunk_size, BLOCK_N)
    pid_m = tl.program_id(axis=0) // num_pid_n
    pid_n = tl.program_id(axis=0) % num_pid_n
    a_ptr += pid_b * stride_a_batch + pid_c * chunk_size * stride_a_seqlen + pid_h * stride_a_head
    b_ptr += pid_b * stride_a_batch + pid_c * chunk_size * stride_a_seqlen + pid_h * stride_a_head

    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_m[:, None] * stride_a_seqlen + offs_k[None, :])
    b_ptrs = b_ptr + (offs_k[:, None] + offs_n[None, :] * stride_a_seqlen)
    limit = min(chunk_size, seqlen - pid_c * chunk_size)

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < limit) & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k * BLOCK_K) & (offs_n[None, :] < limit), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    out_ptr += pid_b * stride_out_batch + pid_c * stride_out_chunk + pid_h * stride_out_head
    tl.store(
        out_ptr + stride_outm * offs_m[:, None] + offs_n[None, :], acc,
        mask=(offs_m[:, None] < chunk_size) & (offs_n[None, :] < chunk_size),
    )


def bmm_chunk_fwd(a, b, chunk_size):
    batch, seqlen, ngroups, k = a.shape
    nchunks = (seqlen + chunk_size - 1) // chunk_size
    out = torch.empty((batch, nchunks, ngroups, chunk_size, chunk_size), device=a.device, dtype=torch.float32)
    grid = (triton.cdiv(chunk_size, 16) * triton.cdiv(chunk_size, 16), batch, nchunks * ngroups)
    _bmm_chunk_fwd_kernel[grid](
        a, b, out, seqlen, chunk_size, k, ngroups,
        a.stride(0), a.stride(1), a.stride(2),
        out.stride(0), out.stride(1), out.stride(2), out.stride(3),
        BLOCK_M=16, BLOCK_N=16, BLOCK_K=16,
    )
    return out


def launch(batch=2, seqlen=75, ngroups=2, dstate=24):
    C = torch.randn(batch, seqlen, ngroups, dstate, device="cuda")
    B = torch.randn(batch, seqlen, ngroups, dstate, device="cuda")
    return bmm_chunk_fwd(C, B, 32)


def reference(C, B):
    pad = (0, 0, 0, 0, 0, -C.shape[1] % 32)
    c = torch.nn.functional.pad(C, pad).unflatten(1, (-1, 32))
    b = torch.nn.functional.pad(B, pad).unflatten(1, (-1, 32))
    return torch.einsum("bcmgk,bcngk->bcgmn", c, b)


TRUTH = "verified"
