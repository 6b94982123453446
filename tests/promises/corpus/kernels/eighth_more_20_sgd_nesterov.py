# broken: the Nesterov step looks ahead with the momentum from before its update; wrong at every size
import torch
import triton
import triton.language as tl


# apex' FusedSGD: weight decay, momentum, Nesterov; weights and momentum in place
@triton.jit
def sgd(p_ptr, g_ptr, m_ptr, n, lr, momentum, decay, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    p = tl.load(p_ptr + i, mask=ok)
    d = tl.load(g_ptr + i, mask=ok) + decay * p
    m = tl.load(m_ptr + i, mask=ok)
    step = d + momentum * m
    m = momentum * m + d
    tl.store(m_ptr + i, m, mask=ok)
    tl.store(p_ptr + i, p - lr * step, mask=ok)


def launch(n=150):
    p = torch.randn(n, device="cuda")
    g = torch.randn(n, device="cuda")
    m = torch.randn(n, device="cuda")
    sgd[(triton.cdiv(n, 64),)](p, g, m, n, 0.1, 0.9, 0.01, BLOCK=64)
    return p, m


def reference(p, g, m):
    d = g + 0.01 * p
    m = 0.9 * m + d
    return p - 0.1 * (d + 0.9 * m), m


TRUTH = "broken"
