"""Eight-bit matrix product with row and column scales and a bias: integers are summed exactly, floats come last."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 64}, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def _int8_matmul_mixed_dequantize(A, B, C, bias, state_x, state_w, M, N, K, divfactor, stride_am, stride_ak, stride_bk,
                                  stride_bn, stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                                  BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr):
    pid = tl.program_id(0)
    grid_n = tl.cdiv(N, BLOCK_N)
    rm = (pid // grid_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = (pid % grid_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = rm % M
    rbn = rn % N
    rk = tl.arange(0, BLOCK_K)
    A = A + ram[:, None] * stride_am + rk[None, :] * stride_ak
    B = B + rk[:, None] * stride_bk + rbn[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(A)
            b = tl.load(B)
        else:
            left = K - k * BLOCK_K
            a = tl.load(A, mask=rk[None, :] < left, other=0)
            b = tl.load(B, mask=rk[:, None] < left, other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        A += BLOCK_K * stride_ak
        B += BLOCK_K * stride_bk
    w_factor = tl.load(state_w + rbn)[None, :]
    x_factor = tl.load(state_x + ram)[:, None]
    y = divfactor * (acc.to(tl.float32) * w_factor * x_factor)
    y += tl.load(bias + rbn)[None, :]
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    tl.store(C + rm[:, None] * stride_cm + rn[None, :] * stride_cn, y, mask=mask)


def launch():
    M, N, K = 70, 100, 90
    a = torch.randint(-127, 128, (M, K), dtype=torch.int8)
    w = torch.randint(-127, 128, (N, K), dtype=torch.int8)
    state_x, state_w = torch.rand(M) + 0.5, torch.rand(N) + 0.5
    bias = torch.randn(N)
    b = w.t()
    c = torch.empty(M, N)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    _int8_matmul_mixed_dequantize[grid](a, b, c, bias, state_x, state_w, M, N, K, 1.0 / (127.0 * 127.0), a.stride(0),
                                        a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
    return c


def reference(a, w, state_x, state_w, bias):
    acc = a.float() @ w.float().t()
    return acc * state_x[:, None] * state_w[None, :] * (1.0 / (127.0 * 127.0)) + bias
