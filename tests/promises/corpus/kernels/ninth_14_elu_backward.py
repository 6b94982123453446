"""ELU's gradient from its input (aten.elu_backward with is_result=False)."""
import torch
import triton
import triton.language as tl


@triton.jit
def elu_backward_kernel(grad_ptr, x_ptr, dx_ptr, alpha, scale, input_scale, n, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n
    g = tl.load(grad_ptr + offs, mask=mask, other=0.0)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    neg = g * input_scale * alpha * scale * tl.exp(x * input_scale)
    pos = g * scale
    tl.store(dx_ptr + offs, tl.where(x > 0, pos, neg), mask=mask)


def launch(rows=7, cols=91):
    grad = torch.randn(rows, cols, device="cuda")
    x = torch.randn(rows, cols, device="cuda")
    dx = torch.empty_like(x)
    n = x.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)
    # SELU: alpha and scale as torch.nn.SELU has them
    elu_backward_kernel[grid](grad, x, dx, 1.6732632423543772, 1.0507009873554805, 1.0, n, BLOCK_SIZE=128)
    return dx


def reference(grad, x):
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return grad * torch.where(x > 0, scale, scale * alpha * torch.exp(x))


TRUTH = "verified"
