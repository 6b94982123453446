"""FP8-recipe style cast (here to fp16): the scaled cast, its transpose, and the absolute maximum for the next scale."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32}, num_warps=4),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 16}, num_warps=4),
    ],
    key=["M", "N"],
    reset_to_zero=["amax_ptr"],
)
@triton.jit
def _cast_transpose_kernel(
    A, C, T, M, N,
    stride_am, stride_cm, stride_tn,
    scale_ptr, amax_ptr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr = 4,
):
    pid = tl.program_id(0)
    grid_m = (M + BLOCK_M - 1) // BLOCK_M
    grid_n = (N + BLOCK_N - 1) // BLOCK_N
    scale = tl.load(scale_ptr)
    pid_m = pid // grid_n
    pid_n = pid % grid_n
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    a = tl.load(A + rm[:, None] * stride_am + rn[None, :], mask=mask, other=0.0).to(tl.float32)
    scaled = (a * scale).to(C.dtype.element_ty)
    tl.store(C + rm[:, None] * stride_cm + rn[None, :], scaled, mask=mask)
    tl.store(T + rn[None, :] * stride_tn + rm[:, None], scaled, mask=mask)
    tl.atomic_max(amax_ptr, tl.max(tl.max(tl.abs(a), axis=1), axis=0))


def launch(M=45, N=70):
    x = torch.randn(M, N, device="cuda")
    scale = torch.rand(1, device="cuda")
    cast = torch.empty(M, N, dtype=torch.float16, device="cuda")
    trans = torch.empty(N, M, dtype=torch.float16, device="cuda")
    amax = torch.zeros(1, device="cuda")
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]) * triton.cdiv(N, META["BLOCK_N"]),)
    _cast_transpose_kernel[grid](x, cast, trans, M, N, x.stride(0), cast.stride(0), trans.stride(0), scale, amax)
    return cast, trans, amax


def reference(x, scale):
    y = (x * scale).half()
    return y, y.t().contiguous(), x.abs().max().reshape(1)


TRUTH = "verified"
