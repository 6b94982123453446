"""gptq4, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _gptq_dequant_kernel(
    qweight_ptr,
    qzeros_ptr,
    scales_ptr,
    out_ptr,
    K,
    N,
    stride_qwk,
    stride_qzg,
    stride_sg,
    stride_ok,
    GROUP_SIZE: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    offs_k = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = offs_n < N
    mask = (offs_k[:, None] < K) & mask_n[None, :]

    g = offs_k // GROUP_SIZE
    packed = tl.load(qweight_ptr + (offs_k // 8)[:, None] * stride_qwk + offs_n[None, :], mask=mask, other=0)
    w = (packed >> ((offs_k % 8) * 4)[:, None]) & 0xF

    packed_z = tl.load(qzeros_ptr + g[:, None] * stride_qzg + (offs_n // 8)[None, :], mask=mask, other=0)
    z = ((packed_z >> ((offs_n % 8) * 4)[None, :]) & 0xF) + 1

    s = tl.load(scales_ptr + g[:, None] * stride_sg + offs_n[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + offs_k[:, None] * stride_ok + offs_n[None, :], (w - z).to(tl.float32) * s, mask=mask)


def dequantize_gptq(qweight, qzeros, scales, group_size=32):
    K = qweight.shape[0] * 8
    N = qweight.shape[1]
    out = torch.empty((K, N), dtype=scales.dtype, device=qweight.device)
    grid = lambda meta: (triton.cdiv(K, meta["BLOCK_K"]), triton.cdiv(N, meta["BLOCK_N"]))
    _gptq_dequant_kernel[grid](
        qweight, qzeros, scales, out, K, N,
        qweight.stride(0), qzeros.stride(0), scales.stride(0), out.stride(0),
        GROUP_SIZE=group_size, BLOCK_K=64, BLOCK_N=32,
    )
    return out


def launch(groups=3, packs=5):
    info = torch.iinfo(torch.int32)
    qweight = torch.randint(info.min, info.max, (groups * 4, packs * 8), dtype=torch.int32, device="cuda")
    qzeros = torch.randint(info.min, info.max, (groups, packs), dtype=torch.int32, device="cuda")
    scales = torch.randn(groups, packs * 8, device="cuda")
    return dequantize_gptq(qweight, qzeros, scales)


def reference(qweight, qzeros, scales):
    shifts = torch.arange(0, 32, 4, device=qweight.device)
    w = ((qweight.unsqueeze(1) >> shifts[None, :, None]) & 0xF).flatten(0, 1)
    z = (((qzeros.unsqueeze(2) >> shifts) & 0xF) + 1).flatten(1)
    return (w - z.repeat_interleave(32, 0)) * scales.repeat_interleave(32, 0)


TRUTH = "verified"
