"""Weight-only int8 linear layer: half-precision activations, a scale for each channel, a bias, an autotuner."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 64}, num_warps=8, num_stages=2),
    ],
    key=["N", "K"],
)
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def _w8a16_kernel(
    a_ptr, w_ptr, s_ptr, bias_ptr, c_ptr,
    M, N, K,
    stride_am, stride_wn, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        kk = k + rk
        if EVEN_K:
            a = tl.load(a_ptr + rm[:, None] * stride_am + kk[None, :], mask=rm[:, None] < M, other=0.0)
            w = tl.load(w_ptr + rn[None, :] * stride_wn + kk[:, None], mask=rn[None, :] < N, other=0)
        else:
            a = tl.load(a_ptr + rm[:, None] * stride_am + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.0)
            w = tl.load(w_ptr + rn[None, :] * stride_wn + kk[:, None], mask=(rn[None, :] < N) & (kk[:, None] < K), other=0)
        acc = tl.dot(a, w.to(a.dtype), acc)
    scale = tl.load(s_ptr + rn, mask=rn < N, other=0.0)
    bias = tl.load(bias_ptr + rn, mask=rn < N, other=0.0).to(tl.float32)
    acc = acc * scale[None, :] + bias[None, :]
    tl.store(c_ptr + rm[:, None] * stride_cm + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch():
    M, N, K = 13, 96, 160
    a = torch.randn(M, K).half()
    weight = torch.randint(-127, 128, (N, K), dtype=torch.int8)
    scale = torch.rand(N) / 127
    bias = torch.randn(N).half()
    out = torch.empty(M, N, dtype=torch.float16)
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]), triton.cdiv(N, META["BLOCK_N"]))
    _w8a16_kernel[grid](a, weight, scale, bias, out, M, N, K, a.stride(0), weight.stride(0), out.stride(0))
    return out


def reference(a, weight, scale, bias):
    y = a.float() @ (weight.float() * scale[:, None]).T + bias.float()
    return y.half()
