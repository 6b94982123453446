import torch
import triton
import triton.language as tl


@triton.jit
def heat_kernel(u, ny, nx, alpha, BY: tl.constexpr, BX: tl.constexpr):
    # one explicit Euler step of u_t = alpha * (u_xx + u_yy), boundary kept
    y = tl.program_id(0) * BY + tl.arange(0, BY)[:, None]
    x = tl.program_id(1) * BX + tl.arange(0, BX)[None, :]
    inner = (y > 0) & (y < ny - 1) & (x > 0) & (x < nx - 1)
    at = y * nx + x
    c = tl.load(u + at, mask=inner, other=0.0)
    up = tl.load(u + at - nx, mask=inner, other=0.0)
    down = tl.load(u + at + nx, mask=inner, other=0.0)
    left = tl.load(u + at - 1, mask=inner, other=0.0)
    right = tl.load(u + at + 1, mask=inner, other=0.0)
    tl.store(u + at, c + alpha * (up + down + left + right - 4.0 * c), mask=inner)


def step(u, alpha):
    ny, nx = u.shape
    heat_kernel[(triton.cdiv(ny, 16), triton.cdiv(nx, 16))](u, ny, nx, alpha, BY=16, BX=16)
    return u


def launch():
    ny, nx = 30, 40
    u = torch.randn(ny, nx)
    return step(u, 0.1)


def reference(u):
    c = u[1:-1, 1:-1]
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * c
    new = u.clone()
    new[1:-1, 1:-1] = c + 0.1 * lap
    return new


TRUTH = "broken"
