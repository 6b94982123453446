"""One Sophia-G step in place: the momentum over the Hessian estimate, clipped at one in absolute value, with decoupled weight decay."""
import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN": lambda args: args["numel"] % args["BLOCK"] == 0})
@triton.jit
def sophia_kernel(p_ptr, g_ptr, m_ptr, h_ptr, numel, lr, beta1, rho_bs, wd,
                  EVEN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        p, g = tl.load(p_ptr + i), tl.load(g_ptr + i)
        m, h = tl.load(m_ptr + i), tl.load(h_ptr + i)
    else:
        p = tl.load(p_ptr + i, mask=i < numel)
        g = tl.load(g_ptr + i, mask=i < numel)
        m = tl.load(m_ptr + i, mask=i < numel)
        h = tl.load(h_ptr + i, mask=i < numel, other=1.0)

    p = p * (1 - lr * wd)
    m = beta1 * m + (1 - beta1) * g
    ratio = tl.minimum(tl.abs(m) / (rho_bs * h + 1e-15), 1.0)
    step = tl.where(m > 0, ratio, tl.where(m < 0, -ratio, 0.0))
    p = p - lr * step

    if EVEN:
        tl.store(p_ptr + i, p)
        tl.store(m_ptr + i, m)
    else:
        tl.store(p_ptr + i, p, mask=i < numel)
        tl.store(m_ptr + i, m, mask=i < numel)


def launch(numel=1000):
    param = torch.randn(numel, device="cuda")
    grad = torch.randn(numel, device="cuda")
    exp_avg = torch.randn(numel, device="cuda")
    hessian = torch.rand(numel, device="cuda")
    sophia_kernel[(triton.cdiv(numel, 256),)](param, grad, exp_avg, hessian, numel, 0.5, 0.75, 4.0, 0.125, BLOCK=256)
    return param, exp_avg


@torch.no_grad()
def reference(param, grad, exp_avg, hessian):
    param = param.mul(1 - 0.5 * 0.125)
    exp_avg = exp_avg.mul(0.75).add(grad, alpha=1 - 0.75)
    ratio = (exp_avg.abs() / (4.0 * hessian + 1e-15)).clamp(None, 1)
    return param.addcmul(exp_avg.sign(), ratio, value=-0.5), exp_avg

TRUTH = "verified"
