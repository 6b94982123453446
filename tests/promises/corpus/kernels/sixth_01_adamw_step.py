import torch
import triton
import triton.language as tl


@triton.jit
def adamw_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr,
    lr, beta1, beta2, eps, weight_decay,
    bias_correction1, bias_correction2,
    N,
    BLOCK: tl.constexpr,
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < N
    p = tl.load(p_ptr + offs, mask=inside)
    g = tl.load(g_ptr + offs, mask=inside)
    m = tl.load(m_ptr + offs, mask=inside)
    v = tl.load(v_ptr + offs, mask=inside)

    p = p * (1.0 - lr * weight_decay)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    denom = tl.sqrt(v / bias_correction2) + eps
    p = p - lr * (m / bias_correction1) / denom

    tl.store(p_ptr + offs, p, mask=inside)
    tl.store(m_ptr + offs, m, mask=inside)
    tl.store(v_ptr + offs, v, mask=inside)


class FusedAdamW:
    def __init__(self, lr=1e-2, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1):
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay

    def step(self, p, g, m, v, t):
        b1, b2 = self.betas
        n = p.numel()
        adamw_kernel[lambda META: (triton.cdiv(n, META["BLOCK"]),)](
            p, g, m, v, self.lr, b1, b2, self.eps, self.weight_decay, 1 - b1**t, 1 - b2**t, n, BLOCK=64)


def launch():
    n = 200
    param = torch.randn(n)
    grad = torch.randn(n)
    exp_avg = torch.randn(n)
    exp_avg_sq = torch.rand(n)
    FusedAdamW().step(param, grad, exp_avg, exp_avg_sq, 3)
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    param = param - 1e-2 * 0.1 * param
    m = torch.lerp(grad, exp_avg, 0.9)
    v = exp_avg_sq * 0.99 + 0.01 * grad.square()
    m_hat, v_hat = m / (1 - 0.9**3), v / (1 - 0.99**3)
    return param - 1e-2 * m_hat / (v_hat.sqrt() + 1e-8), m, v


TRUTH = "verified"
