"""BitNet-style linear with ternary weights packed four to a byte: each weight is its two bits minus one, with a scale per output row."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_N": 16, "BLOCK_KB": 8}, num_warps=2),
        triton.Config({"BLOCK_N": 32, "BLOCK_KB": 16}, num_warps=4),
    ],
    key=["N", "KB"],
)
@triton.jit
def ternary_gemv_kernel(x_ptr, w_ptr, s_ptr, y_ptr, N, KB, stride_xm, stride_wn, stride_ym,
                        BLOCK_N: tl.constexpr, BLOCK_KB: tl.constexpr):
    m = tl.program_id(1)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for kb in range(0, tl.cdiv(KB, BLOCK_KB)):
        byte = kb * BLOCK_KB + tl.arange(0, BLOCK_KB)
        packed = tl.load(w_ptr + n[:, None] * stride_wn + byte[None, :],
                         mask=(n[:, None] < N) & (byte[None, :] < KB), other=0).to(tl.int32)
        for j in tl.static_range(4):
            w = ((packed >> (2 * j)) & 3) - 1
            x = tl.load(x_ptr + m * stride_xm + byte * 4 + j, mask=byte < KB, other=0.0)
            acc += tl.sum(w.to(tl.float32) * x[None, :].to(tl.float32), axis=1)
    scale = tl.load(s_ptr + n, mask=n < N, other=0.0)
    tl.store(y_ptr + m * stride_ym + n, (acc * scale).to(y_ptr.dtype.element_ty), mask=n < N)


def launch(M=3, N=40, KB=18):
    x = torch.randn(M, 4 * KB, device="cuda", dtype=torch.float16)
    packed = torch.randint(0, 256, (N, KB), device="cuda", dtype=torch.uint8)
    scale = torch.rand(N, device="cuda", dtype=torch.float32)
    y = torch.empty(M, N, device="cuda", dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(N, meta["BLOCK_N"]), M)
    ternary_gemv_kernel[grid](x, packed, scale, y, N, KB, x.stride(0), packed.stride(0), y.stride(0))
    return y


def reference(x, packed, scale):
    shifts = torch.arange(0, 8, 2, device=packed.device)
    codes = (packed.to(torch.int32).unsqueeze(-1) >> shifts) & 3
    weight = (codes - 1).reshape(packed.shape[0], -1).to(torch.float32) * scale[:, None]
    return (x.to(torch.float32) @ weight.t()).to(torch.float16)

TRUTH = "verified"
