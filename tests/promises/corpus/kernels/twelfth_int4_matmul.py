"""The group of a scale is taken from the packed row instead of the row of the weight it unpacks to, so scales advance half as fast as they should."""
import torch
import triton
import triton.language as tl


@triton.jit
def int4_matmul_kernel(
    x_ptr, packed_ptr, scale_ptr, out_ptr, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BP: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    in_m = rm < M
    in_n = rn < N
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K // 2, BP):
        rp = start + tl.arange(0, BP)
        in_p = rp < K // 2
        x_mask = in_m[:, None] & in_p[None, :]
        w_mask = in_p[:, None] & in_n[None, :]
        x_even = tl.load(x_ptr + rm[:, None] * K + 2 * rp[None, :], mask=x_mask, other=0.0)
        x_odd = tl.load(x_ptr + rm[:, None] * K + 2 * rp[None, :] + 1, mask=x_mask, other=0.0)
        packed = tl.load(packed_ptr + rp[:, None] * N + rn[None, :], mask=w_mask, other=0).to(tl.int32)
        scale = tl.load(scale_ptr + (rp // GROUP)[:, None] * N + rn[None, :], mask=w_mask, other=0.0)
        low = ((packed & 15) - 8).to(tl.float32) * scale
        high = (((packed >> 4) & 15) - 8).to(tl.float32) * scale
        acc += tl.dot(x_even, low, input_precision="ieee")
        acc += tl.dot(x_odd, high, input_precision="ieee")
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc, mask=in_m[:, None] & in_n[None, :])


def launch(m=20, n=40, groups=4):
    x = torch.randn(m, 32 * groups, device="cuda")
    packed = torch.randint(0, 256, (16 * groups, n), device="cuda", dtype=torch.uint8)
    scales = torch.rand(groups, n, device="cuda")
    out = torch.empty(m, n, device="cuda")
    int4_matmul_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](
        x, packed, scales, out, m, n, 32 * groups, GROUP=32, BM=16, BN=16, BP=16,
    )
    return out


def reference(x, packed, scales):
    p = packed.to(torch.int32)
    w = torch.stack([p & 15, (p >> 4) & 15], dim=1).flatten(0, 1) - 8
    return x @ (w.to(x.dtype) * scales.repeat_interleave(32, dim=0))


TRUTH = "broken"
