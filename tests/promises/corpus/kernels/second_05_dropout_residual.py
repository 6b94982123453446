"""bias + dropout (given mask) + residual, with a fixed number of programs that stride over the tensor."""

import torch
import triton
import triton.language as tl

P = 0.1


@triton.jit
def bias_dropout_add_kernel(x_ptr, bias_ptr, keep_ptr, res_ptr, out_ptr, n, D, scale, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    step = tl.num_programs(0) * BLOCK
    for start in range(pid * BLOCK, n, step):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        bias = tl.load(bias_ptr + offs % D, mask=mask)
        keep = tl.load(keep_ptr + offs, mask=mask)
        res = tl.load(res_ptr + offs, mask=mask)
        y = tl.where(keep, (x + bias) * scale, 0.0) + res
        tl.store(out_ptr + offs, y, mask=mask)


def launch(M=9, D=70):
    x = torch.randn(M, D, device="cuda")
    bias = torch.randn(D, device="cuda")
    keep = torch.rand(M, D, device="cuda") > P
    residual = torch.randn(M, D, device="cuda")
    out = torch.empty_like(x)
    bias_dropout_add_kernel[(4,)](x, bias, keep, residual, out, x.numel(), D, 1.0 / (1.0 - P), BLOCK=64)
    return out


def reference(x, bias, keep, residual):
    return residual + torch.where(keep, (x + bias) / (1.0 - P), torch.zeros_like(x))


TRUTH = "verified"
