import torch
import triton
import triton.language as tl


@triton.jit
def l2_normalize_bwd_kernel(
    x_ptr, dy_ptr, dx_ptr, row_stride, D, eps, BLOCK_D: tl.constexpr,
):
    """y = x / sqrt(|x|^2 + eps);   dx = (dy - y <y, dy>) / sqrt(|x|^2 + eps)"""
    row = tl.program_id(0)
    tl.assume(row_stride >= D)
    d = tl.arange(0, BLOCK_D)
    m = d < D
    x = tl.load(x_ptr + row * row_stride + d, mask=m, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * row_stride + d, mask=m, other=0.0).to(tl.float32)
    rnorm = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) + eps)
    y = x * rnorm
    dot = tl.sum(y * dy, axis=0)
    tl.store(dx_ptr + row * row_stride + d, (dy - y * dot) * rnorm, mask=m)


def launch(B=4, H=3, D=20):
    x = torch.randn(B, H, D, device="cuda")
    dy = torch.randn(B, H, D, device="cuda")
    dx = torch.empty_like(x)
    l2_normalize_bwd_kernel[(B * H,)](x, dy, dx, D, D, 1e-5, BLOCK_D=triton.next_power_of_2(D))
    return dx


def reference(x, dy):
    x = x.detach().requires_grad_(True)
    y = x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-5)
    (dx,) = torch.autograd.grad(y, x, dy)
    return dx


TRUTH = "verified"
