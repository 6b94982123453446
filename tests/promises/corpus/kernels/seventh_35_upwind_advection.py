"""One upwind step of the advection equation on a periodic line, for several tracers:  u_i -= c (u_i - u_{i-1})."""
import torch
import triton
import triton.language as tl


@triton.jit
def upwind_kernel(u_ptr, courant_ptr, n, BLOCK: tl.constexpr):
    tracer = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    left = tl.where(i == 0, n - 1, i - 1)
    c = tl.load(courant_ptr + tracer)
    u = tl.load(u_ptr + tracer * n + i, mask=mask, other=0.0)
    u_left = tl.load(u_ptr + tracer * n + left, mask=mask, other=0.0)
    tl.store(u_ptr + tracer * n + i, u - c * (u - u_left), mask=mask)


def launch(tracers=3, n=100):
    u = torch.randn(tracers, n, device="cuda")
    courant = torch.rand(tracers, device="cuda")
    upwind_kernel[(triton.cdiv(n, 32), tracers)](u, courant, n, BLOCK=32)
    return u


def reference(u, courant):
    return u - courant[:, None] * (u - u.roll(1, dims=1))


# in place: a program may read u[i - 1] after its neighbour has replaced it (and the last element, by periodicity)
TRUTH = "broken"
