"""GPTQ's 4-bit weights with act-order: eight rows of K in an int32, zeros packed along N, groups by g_idx."""
import torch
import triton
import triton.language as tl


@triton.jit
def gptq_dequant_kernel(
    qweight_ptr, qzeros_ptr, scales_ptr, g_idx_ptr, out_ptr,
    K, N,
    stride_qw, stride_qz, stride_s, stride_o,
    BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr,
):
    offs_k = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_k = offs_k < K
    mask_n = offs_n < N
    mask = mask_k[:, None] & mask_n[None, :]

    g = tl.load(g_idx_ptr + offs_k, mask=mask_k, other=0)
    qw = tl.load(qweight_ptr + (offs_k // 8)[:, None] * stride_qw + offs_n[None, :], mask=mask, other=0)
    qz = tl.load(qzeros_ptr + g[:, None] * stride_qz + (offs_n // 8)[None, :], mask=mask, other=0)
    s = tl.load(scales_ptr + g[:, None] * stride_s + offs_n[None, :], mask=mask, other=0.0)

    w = (qw >> ((offs_k % 8) * 4)[:, None]) & 0xF
    z = (qz >> ((offs_n % 8) * 4)[None, :]) & 0xF
    z = z + 1
    w = (w - z).to(tl.float32) * s
    tl.store(out_ptr + offs_k[:, None] * stride_o + offs_n[None, :], w, mask=mask)


def launch(packs_k=5, packs_n=3, groups=3):
    K, N = packs_k * 8, packs_n * 8
    qweight = torch.randint(-(2**31), 2**31 - 1, (packs_k, N), dtype=torch.int32, device="cuda")
    qzeros = torch.randint(-(2**31), 2**31 - 1, (groups, packs_n), dtype=torch.int32, device="cuda")
    scales = torch.rand(groups, N, device="cuda")
    g_idx = torch.randint(0, groups, (K,), dtype=torch.int32, device="cuda")
    out = torch.empty(K, N, device="cuda")
    grid = lambda meta: (triton.cdiv(K, meta["BLOCK_K"]), triton.cdiv(N, meta["BLOCK_N"]))
    gptq_dequant_kernel[grid](
        qweight, qzeros, scales, g_idx, out, K, N,
        qweight.stride(0), qzeros.stride(0), scales.stride(0), out.stride(0),
        BLOCK_K=32, BLOCK_N=16,
    )
    return out


launch.assume = ["0 <= g_idx < groups"]


def reference(qweight, qzeros, scales, g_idx):
    shifts = torch.arange(0, 32, 4, device=qweight.device, dtype=torch.int32)
    w = ((qweight[:, None, :] >> shifts[None, :, None]) & 0xF).reshape(-1, qweight.shape[1])
    z = ((qzeros[:, :, None] >> shifts[None, None, :]) & 0xF).reshape(qzeros.shape[0], -1) + 1
    g = g_idx.long()
    return scales[g] * (w - z[g])


TRUTH = "verified"
