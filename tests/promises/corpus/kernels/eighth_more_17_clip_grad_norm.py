import torch
import triton
import triton.language as tl


# apex' multi_tensor_l2norm and scale: sums of squares by blocks, then the gradient is scaled in place
@triton.jit
def square_sums(g_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    tl.store(partial_ptr + pid, tl.sum(g * g, axis=0))


@triton.jit
def clip(g_ptr, partial_ptr, norm_ptr, n, blocks, max_norm, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    p = tl.arange(0, PARTS)
    norm = tl.sqrt(tl.sum(tl.load(partial_ptr + p, mask=p < blocks, other=0.0), axis=0))
    factor = tl.minimum(max_norm / (norm + 1e-6), 1.0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(g_ptr + i, tl.load(g_ptr + i, mask=i < n) * factor, mask=i < n)
    if pid == 0:
        tl.store(norm_ptr, norm)


def launch(n=300):
    g = torch.randn(n, device="cuda")
    blocks = triton.cdiv(n, 64)
    partial = torch.empty(blocks, device="cuda")
    norm = torch.empty(1, device="cuda")
    square_sums[(blocks,)](g, partial, n, BLOCK=64)
    clip[(blocks,)](g, partial, norm, n, blocks, 1.0, BLOCK=64, PARTS=triton.next_power_of_2(blocks))
    return g, norm


def reference(g):
    norm = torch.sqrt((g * g).sum())
    return g * torch.clamp(1.0 / (norm + 1e-6), max=1.0), norm[None]


TRUTH = "verified"
