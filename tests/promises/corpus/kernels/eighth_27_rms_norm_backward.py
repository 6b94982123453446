# broken: the inner product is not divided by N
import torch
import triton
import triton.language as tl


@triton.jit
def rms_backward_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, N, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0)
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    r = tl.load(rstd_ptr + row)
    xhat = x * r
    wdy = w * dy
    c = tl.sum(xhat * wdy, axis=0)
    tl.store(dx_ptr + row * stride + cols, (wdy - xhat * c) * r, mask=mask)


def launch(M=6, N=48):
    x = torch.randn(M, N, device="cuda")
    dy = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    rstd = torch.rsqrt(x.square().mean(-1) + 1e-6)
    dx = torch.empty_like(x)
    rms_backward_kernel[(M,)](dy, x, weight, rstd, dx, N, x.stride(0), BLOCK=triton.next_power_of_2(N))
    return dx


def reference(x, dy, weight):
    r = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    wdy = weight * dy
    return r * wdy - x * r**3 * (wdy * x).mean(-1, keepdim=True)


TRUTH = "broken"
