import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, n_cols, stride, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * stride + c, mask=c < n_cols, other=0.0)
    y = tl.cumsum(x, axis=0)
    tl.store(y_ptr + r * stride + c, y, mask=c < n_cols)


def launch(x):
    y = torch.empty_like(x)
    cumsum_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def reference(x):
    return torch.cumsum(x, dim=-1)


def inputs(rows=6, cols=77):
    return (torch.randn(rows, cols),)
