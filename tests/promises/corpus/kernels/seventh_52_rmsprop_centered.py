import torch
import triton
import triton.language as tl


@triton.jit
def rmsprop_kernel(p_ptr, g_ptr, sq_ptr, avg_ptr, buf_ptr, n, lr, alpha, eps, wd, momentum, BLOCK: tl.constexpr):
    """torch.optim.RMSprop(centered=True, momentum, weight_decay), everything in place."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    p = tl.load(p_ptr + i, mask=ok)
    g = tl.load(g_ptr + i, mask=ok) + wd * p
    sq = alpha * tl.load(sq_ptr + i, mask=ok) + (1 - alpha) * g * g
    avg = tl.load(avg_ptr + i, mask=ok)
    avg = avg + (1 - alpha) * (g - avg)
    denom = tl.sqrt(sq - avg * avg) + eps
    buf = momentum * tl.load(buf_ptr + i, mask=ok) + g / denom
    tl.store(p_ptr + i, p - lr * buf, mask=ok)
    tl.store(sq_ptr + i, sq, mask=ok)
    tl.store(avg_ptr + i, avg, mask=ok)
    tl.store(buf_ptr + i, buf, mask=ok)


def launch(n=300):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    grad_avg = torch.randn(n, device="cuda")
    square_avg = torch.rand(n, device="cuda") + grad_avg**2
    buf = torch.randn(n, device="cuda")
    rmsprop_kernel[(triton.cdiv(n, 128),)](
        param, grad, square_avg, grad_avg, buf, n, 1e-2, 0.99, 1e-8, 0.1, 0.9, BLOCK=128
    )
    return param, square_avg, grad_avg, buf


def reference(param, grad, square_avg, grad_avg, buf):
    grad = grad + 0.1 * param
    square_avg = 0.99 * square_avg + (1 - 0.99) * grad**2
    grad_avg = torch.lerp(grad_avg, grad, 1 - 0.99)
    buf = 0.9 * buf + grad / ((square_avg - grad_avg**2).sqrt() + 1e-8)
    return param - 1e-2 * buf, square_avg, grad_avg, buf


TRUTH = "verified"
