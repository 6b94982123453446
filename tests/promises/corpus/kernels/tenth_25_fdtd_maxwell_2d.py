"""One leapfrog step of the 2D Maxwell equations (TM mode, Yee's grid): the magnetic fields from the electric one,
then the electric one from them; three fields in place, two kernels."""
import torch
import triton
import triton.language as tl


@triton.jit
def update_h(ez_ptr, hx_ptr, hy_ptr, NX, NY, c, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = idx // NY
    j = idx % NY
    inside = idx < NX * NY
    ez = tl.load(ez_ptr + idx, mask=inside, other=0.0)

    m = inside & (j < NY - 1)
    up = tl.load(ez_ptr + idx + 1, mask=m, other=0.0)
    hx = tl.load(hx_ptr + idx, mask=m, other=0.0)
    tl.store(hx_ptr + idx, hx - c * (up - ez), mask=m)

    m = inside & (i < NX - 1)
    right = tl.load(ez_ptr + idx + NY, mask=m, other=0.0)
    hy = tl.load(hy_ptr + idx, mask=m, other=0.0)
    tl.store(hy_ptr + idx, hy + c * (right - ez), mask=m)


@triton.jit
def update_e(ez_ptr, hx_ptr, hy_ptr, NX, NY, c, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = idx // NY
    j = idx % NY
    interior = (idx < NX * NY) & (i > 0) & (i < NX - 1) & (j > 0) & (j < NY - 1)
    ez = tl.load(ez_ptr + idx, mask=interior, other=0.0)
    curl = tl.load(hy_ptr + idx, mask=interior, other=0.0) - tl.load(hy_ptr + idx - NY, mask=interior, other=0.0)
    curl -= tl.load(hx_ptr + idx, mask=interior, other=0.0) - tl.load(hx_ptr + idx - 1, mask=interior, other=0.0)
    tl.store(ez_ptr + idx, ez + c * curl, mask=interior)


def launch(nx=11, ny=17):
    ez = torch.randn(nx, ny, device="cuda")
    hx = torch.randn(nx, ny, device="cuda")
    hy = torch.randn(nx, ny, device="cuda")
    grid = (triton.cdiv(nx * ny, 64),)
    update_h[grid](ez, hx, hy, nx, ny, 0.5, BLOCK=64)
    update_e[grid](ez, hx, hy, nx, ny, 0.5, BLOCK=64)
    return ez, hx, hy


def reference(ez, hx, hy):
    ez, hx, hy = ez.clone(), hx.clone(), hy.clone()
    hx[:, :-1] -= 0.5 * (ez[:, 1:] - ez[:, :-1])
    hy[:-1, :] += 0.5 * (ez[1:, :] - ez[:-1, :])
    ez[1:-1, 1:-1] += 0.5 * ((hy[1:-1, 1:-1] - hy[:-2, 1:-1]) - (hx[1:-1, 1:-1] - hx[1:-1, :-2]))
    return ez, hx, hy


TRUTH = "verified"
