"""clip_grad_norm_ for a flat gradient buffer: partial sums of squares, one program that adds them, then scaling in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def partial_sumsq_kernel(grad_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grad_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    tl.store(partial_ptr + pid, tl.sum(g * g, axis=0))


@triton.jit
def finish_norm_kernel(partial_ptr, norm_ptr, num_partials, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, num_partials, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(partial_ptr + offs, mask=offs < num_partials, other=0.0)
    tl.store(norm_ptr, tl.sqrt(tl.sum(acc, axis=0)))


@triton.jit
def scale_kernel(grad_ptr, norm_ptr, max_norm, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    coef = tl.minimum(max_norm / (tl.load(norm_ptr) + 1e-6), 1.0)
    g = tl.load(grad_ptr + offs, mask=offs < n)
    tl.store(grad_ptr + offs, g * coef, mask=offs < n)


class FusedClipper:
    def __init__(self, max_norm, block=64):
        self.max_norm, self.block = max_norm, block

    def __call__(self, flat):
        n = flat.numel()
        blocks = triton.cdiv(n, self.block)
        partial = torch.empty(blocks, device=flat.device, dtype=torch.float32)
        norm = torch.empty(1, device=flat.device, dtype=torch.float32)
        partial_sumsq_kernel[(blocks,)](flat, partial, n, BLOCK=self.block)
        finish_norm_kernel[(1,)](partial, norm, blocks, BLOCK=16)
        scale_kernel[(blocks,)](flat, norm, self.max_norm, n, BLOCK=self.block)
        return norm


def launch(n=1500):
    grad = torch.randn(n, device="cuda")
    norm = FusedClipper(max_norm=1.0)(grad)
    return grad, norm


def reference(grad):
    norm = torch.linalg.vector_norm(grad)
    return grad * torch.clamp(1.0 / (norm + 1e-6), max=1.0), norm.reshape(1)


TRUTH = "verified"
