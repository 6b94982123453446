"""Layer norm by a fixed number of persistent programs, each of which strides over the rows; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def layer_norm_persistent_kernel(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, M, N, eps, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    b = tl.load(b_ptr + cols, mask=mask, other=0.0)
    for row in range(pid, M, programs):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        mean = tl.sum(x, axis=0) / N
        centred = tl.where(mask, x - mean, 0.0)
        var = tl.sum(centred * centred, axis=0) / N
        rstd = 1 / tl.sqrt(var + eps)
        tl.store(y_ptr + row * N + cols, centred * rstd * w + b, mask=mask)
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)


def launch(M=37, N=120, programs=8):
    x = torch.randn(M, N)
    weight = torch.randn(N)
    bias = torch.randn(N)
    y = torch.empty_like(x)
    mean = torch.empty(M)
    rstd = torch.empty(M)
    layer_norm_persistent_kernel[(min(programs, M),)](x, weight, bias, y, mean, rstd, M, N, 1e-5,
                                                      BLOCK_N=triton.next_power_of_2(N))
    return y, mean, rstd


def reference(x, weight, bias):
    return torch.native_layer_norm(x, (x.shape[1],), weight, bias, 1e-5)[0], x.mean(-1), torch.rsqrt(x.var(-1, correction=0) + 1e-5)
