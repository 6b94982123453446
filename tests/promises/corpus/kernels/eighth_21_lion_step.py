import torch
import triton
import triton.language as tl


@triton.jit
def lion_kernel(p_ptr, g_ptr, m_ptr, n, lr, wd, beta1, beta2, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = tl.load(m_ptr + offs, mask=mask)
    diff = m - g
    update = diff * beta1 + g
    sign = tl.where(update > 0, 1.0, tl.where(update < 0, -1.0, 0.0))
    p = p * (1 - lr * wd) - lr * sign
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, diff * beta2 + g, mask=mask)


def launch(n=300):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    momentum = torch.randn(n, device="cuda")
    lion_kernel[(triton.cdiv(n, 128),)](param, grad, momentum, n, 0.01, 0.1, 0.9, 0.99, BLOCK=128)
    return param, momentum


def reference(param, grad, momentum):
    update = torch.sign(0.9 * momentum + (1 - 0.9) * grad)
    return param - 0.01 * 0.1 * param - 0.01 * update, 0.99 * momentum + (1 - 0.99) * grad


TRUTH = "verified"
