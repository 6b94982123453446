import torch
import triton
import triton.language as tl


# xformers' scaled_index_add (stochastic depth): x[index] += alpha * scaling * src, in place
@triton.jit
def scaled_index_add(x_ptr, index_ptr, src_ptr, scaling_ptr, dim, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = col < dim
    row = tl.load(index_ptr + i)
    s = tl.load(scaling_ptr + col, mask=ok, other=0.0)
    add = alpha * s * tl.load(src_ptr + i * dim + col, mask=ok, other=0.0)
    at = x_ptr + row * dim + col
    tl.store(at, tl.load(at, mask=ok, other=0.0) + add, mask=ok)


def launch(rows=13, picked=6, dim=40):
    x = torch.randn(rows, dim, device="cuda")
    src = torch.randn(picked, dim, device="cuda")
    scaling = torch.randn(dim, device="cuda")
    index = torch.randperm(rows, device="cuda")[:picked]
    scaled_index_add[(picked, triton.cdiv(dim, 32))](x, index, src, scaling, dim, 0.5, BLOCK=32)
    return x


launch.assume = ["distinct(index)", "0 <= index < rows", "picked <= rows"]


def reference(x, index, src, scaling):
    return x.index_add(0, index, 0.5 * scaling * src)


TRUTH = "verified"
