"""A step of SGD with weight decay and Nesterov momentum, in place on parameter and buffer; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def sgd_nesterov_kernel(p_ptr, g_ptr, buf_ptr, lr, momentum, weight_decay, n, BLOCK: tl.constexpr, NESTEROV: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    buf = tl.load(buf_ptr + offs, mask=mask)
    g += weight_decay * p
    buf = momentum * buf + g
    if NESTEROV:
        step = g + momentum * buf
    else:
        step = buf
    tl.store(p_ptr + offs, p - lr * step, mask=mask)
    tl.store(buf_ptr + offs, buf, mask=mask)


def launch(n=300, lr=0.1, momentum=0.9, weight_decay=0.01):
    p = torch.randn(n)
    g = torch.randn(n)
    buf = torch.randn(n)
    sgd_nesterov_kernel[(triton.cdiv(n, 128),)](p, g, buf, lr, momentum, weight_decay, n, BLOCK=128, NESTEROV=True)
    return p, buf


def reference(p, g, buf, lr=0.1, momentum=0.9, weight_decay=0.01):
    d = g + weight_decay * p
    new = momentum * buf + d
    return p - lr * (d + momentum * new), new
