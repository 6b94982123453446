# Dynamic tanh: y = gamma * tanh(alpha * x) + beta, backwards.
import torch
import triton
import triton.language as tl


@triton.jit
def dyt_backward_kernel(dy_ptr, x_ptr, alpha_ptr, gamma_ptr, dx_ptr, dgamma_ptr, dbeta_ptr, M, N,
                        BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < N
    alpha = tl.load(alpha_ptr)
    gamma = tl.load(gamma_ptr + cols, mask=mask, other=0.0)
    dgamma = tl.zeros([BLOCK], dtype=tl.float32)
    dbeta = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(M):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0)
        t = 2.0 * tl.sigmoid(2.0 * alpha * x) - 1.0
        tl.store(dx_ptr + row * N + cols, dy * gamma * alpha * (1.0 - t * t), mask=mask)
        dgamma += dy * t
        dbeta += dy
    tl.store(dgamma_ptr + cols, dgamma, mask=mask)
    tl.store(dbeta_ptr + cols, dbeta, mask=mask)


def launch(M=6, N=50):
    x = torch.randn(M, N, device="cuda")
    dy = torch.randn(M, N, device="cuda")
    alpha = torch.rand(1, device="cuda")
    gamma = torch.randn(N, device="cuda")
    dx = torch.empty_like(x)
    dgamma = torch.empty_like(gamma)
    dbeta = torch.empty_like(gamma)
    dyt_backward_kernel[(triton.cdiv(N, 32),)](dy, x, alpha, gamma, dx, dgamma, dbeta, M, N, BLOCK=32)
    return dx, dgamma, dbeta


def reference(x, dy, alpha, gamma):
    t = torch.tanh(alpha * x)
    return dy * gamma * alpha * (1 - t**2), (dy * t).sum(0), dy.sum(0)


TRUTH = "verified"
