"""self + value·a/b over three dimensions, with operands that are broadcast by strides of zero."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def addcdiv_rank_3_kernel(
    x_ptr, a_ptr, b_ptr, out_ptr, value,
    x_s0, x_s1, x_s2, a_s0, a_s1, a_s2, b_s0, b_s1, b_s2, o_s0, o_s1, o_s2,
    S1, S2, num_tasks, TILE: tl.constexpr,
):
    tid = tl.program_id(0) * TILE + tl.arange(0, TILE)
    mask = tid < num_tasks
    i2 = tid % S2
    rest = tid // S2
    i1 = rest % S1
    i0 = rest // S1
    x = tl.load(x_ptr + i0 * x_s0 + i1 * x_s1 + i2 * x_s2, mask=mask)
    a = tl.load(a_ptr + i0 * a_s0 + i1 * a_s1 + i2 * a_s2, mask=mask)
    b = tl.load(b_ptr + i0 * b_s0 + i1 * b_s1 + i2 * b_s2, mask=mask, other=1.0)
    tl.store(out_ptr + i0 * o_s0 + i1 * o_s1 + i2 * o_s2, x + value * (a / b), mask=mask)


def launch():
    B, T, D = 4, 11, 30
    x = torch.randn(B, T, D)
    a = torch.randn(T, 1)
    b = torch.rand(B, 1, D) + 0.5
    out = torch.empty(B, T, D)
    a3 = a.expand(B, T, D)
    b3 = b.expand(B, T, D)
    n = out.numel()
    grid = lambda meta: (triton.cdiv(n, meta["TILE"]),)
    addcdiv_rank_3_kernel[grid](x, a3, b3, out, 0.25, *x.stride(), *a3.stride(), *b3.stride(), *out.stride(), T, D, n, TILE=256)
    return out


def reference(x, a, b):
    return torch.addcdiv(x, a, b, value=0.25)
