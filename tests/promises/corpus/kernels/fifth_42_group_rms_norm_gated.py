"""RMS norm over groups of columns of x * silu(z), as Mamba-2 mixers have it, with the reciprocal kept."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.heuristics({"HAS_Z": lambda args: args["Z"] is not None})
@triton.jit
def _layer_norm_fwd_1pass_kernel(
    X, Y, W, Z, Rstd, stride_x_row, stride_y_row, stride_z_row, M, N, eps, BLOCK_N: tl.constexpr, HAS_Z: tl.constexpr
):
    row = tl.program_id(0)
    group = tl.program_id(1)
    X += row * stride_x_row + group * N
    Y += row * stride_y_row + group * N
    if HAS_Z:
        Z += row * stride_z_row + group * N
    Rstd += group * M
    W += group * N
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
    if HAS_Z:
        z = tl.load(Z + cols, mask=mask).to(tl.float32)
        x *= z * tl.sigmoid(z)
    xbar = tl.where(mask, x, 0.0)
    var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    tl.store(Y + cols, x * rstd * w, mask=mask)


def launch():
    tokens, groups, group_size = 14, 3, 72
    hidden = groups * group_size
    x = torch.randn(tokens, hidden)
    z = torch.randn(tokens, hidden)
    weight = torch.randn(hidden)
    y = torch.empty_like(x)
    rstd = torch.empty(groups, tokens)
    _layer_norm_fwd_1pass_kernel[(tokens, groups)](
        x, y, weight, z, rstd, x.stride(0), y.stride(0), z.stride(0), tokens, group_size, 1e-5,
        BLOCK_N=triton.next_power_of_2(group_size), num_warps=1,
    )
    return y, rstd


def reference(x, weight, z):
    gated = (x * torch.nn.functional.silu(z)).unflatten(-1, (3, -1))
    r = torch.rsqrt(gated.square().mean(-1, keepdim=True) + 1e-5)
    y = (gated * r).flatten(-2) * weight
    return y, r.squeeze(-1).transpose(0, 1)
