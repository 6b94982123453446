import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def _mish_backward_kernel(dy_ptr, x_ptr, dx_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    sp = tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(x)))
    t = 2.0 * tl.sigmoid(2.0 * sp) - 1.0          # tanh(softplus(x))
    dx = dy * (t + x * tl.sigmoid(x) * (1.0 - t * t))
    tl.store(dx_ptr + offsets, dx, mask=mask)


def mish_backward(dy, x):
    dx = torch.empty_like(x)
    n = x.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)
    _mish_backward_kernel[grid](dy, x, dx, n, BLOCK_SIZE=1024)
    return dx


def launch(tokens=37, hidden=70):
    x = torch.randn(tokens, hidden, device="cuda")
    dy = torch.randn(tokens, hidden, device="cuda")
    return mish_backward(dy, x)


def reference(x, dy):
    x = x.detach().requires_grad_()
    (dx,) = torch.autograd.grad(F.mish(x), x, dy)
    return dx


TRUTH = "verified"
