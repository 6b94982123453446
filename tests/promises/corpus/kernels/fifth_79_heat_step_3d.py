"""An explicit step of the heat equation in three dimensions, seven-point stencil, the border keeps its values."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def heat_step_kernel(u_ptr, out_ptr, NZ, NY, NX, coef, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = idx < NZ * NY * NX
    x = idx % NX
    y = (idx // NX) % NY
    z = idx // (NX * NY)
    core = (x > 0) & (x < NX - 1) & (y > 0) & (y < NY - 1) & (z > 0) & inside
    u = tl.load(u_ptr + idx, mask=inside, other=0.0)
    west = tl.load(u_ptr + idx - 1, mask=core, other=0.0)
    east = tl.load(u_ptr + idx + 1, mask=core, other=0.0)
    south = tl.load(u_ptr + idx - NX, mask=core, other=0.0)
    north = tl.load(u_ptr + idx + NX, mask=core, other=0.0)
    below = tl.load(u_ptr + idx - NX * NY, mask=core, other=0.0)
    above = tl.load(u_ptr + idx + NX * NY, mask=core, other=0.0)
    new = u + coef * (west + east + south + north + below + above - 6.0 * u)
    tl.store(out_ptr + idx, tl.where(core, new, u), mask=inside)


def launch():
    u = torch.randn(9, 14, 22)
    nz, ny, nx = u.shape
    out = torch.empty_like(u)
    heat_step_kernel[(triton.cdiv(u.numel(), 256),)](u, out, nz, ny, nx, 0.1, BLOCK=256)
    return out


def reference(u):
    c = u[1:-1, 1:-1, 1:-1]
    around = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
              + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
    out = u.clone()
    out[1:-1, 1:-1, 1:-1] = c + 0.1 * (around - 6 * c)
    return out
