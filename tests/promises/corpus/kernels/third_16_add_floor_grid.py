import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, alpha, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + alpha * y, mask=mask)


def launch(x, y):
    output = torch.empty_like(x)
    n_elements = output.numel()
    BLOCK_SIZE = 64
    add_kernel[(n_elements // BLOCK_SIZE,)](x, y, output, n_elements, 0.5, BLOCK_SIZE=BLOCK_SIZE)
    return output


def reference(x, y):
    return torch.add(x, y, alpha=0.5)


def inputs(n=1000):
    return torch.randn(n), torch.randn(n)
