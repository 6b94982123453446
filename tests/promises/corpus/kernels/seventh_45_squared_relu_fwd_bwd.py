# Primer's activation, with the gradient by hand
import torch
import triton
import triton.language as tl


@triton.jit
def squared_relu_forward_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    r = tl.maximum(x, 0.0)
    tl.store(y_ptr + offsets, r * r, mask=mask)


@triton.jit
def squared_relu_backward_kernel(dy_ptr, x_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """dx overwrites dy."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    dy = tl.load(dy_ptr + offsets, mask=mask)
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(dy_ptr + offsets, tl.where(x > 0, 2.0 * x * dy, 0.0), mask=mask)


def squared_relu_forward(x):
    y = torch.empty_like(x)
    n = x.numel()
    squared_relu_forward_kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK_SIZE=128)
    return y


def squared_relu_backward(grad, x):
    n = x.numel()
    squared_relu_backward_kernel[(triton.cdiv(n, 128),)](grad, x, n, BLOCK_SIZE=128)
    return grad


def launch(batch=3, seq=7, hidden=40):
    x = torch.randn(batch, seq, hidden, device="cuda")
    grad = torch.randn(batch, seq, hidden, device="cuda")
    y = squared_relu_forward(x)
    dx = squared_relu_backward(grad, x)
    return y, dx


def reference(x, grad):
    r = torch.relu(x)
    return r.square(), 2 * r * grad


TRUTH = "verified"
