# RWKV: each token is mixed with the one before it; the first with the carried state.
import torch
import triton
import triton.language as tl


@triton.jit
def token_shift_kernel(x_ptr, last_ptr, mu_ptr, out_ptr, T, D, BLOCK: tl.constexpr):
    bt = tl.program_id(0)
    b = bt // T
    t = bt % T
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    x = tl.load(x_ptr + bt * D + d, mask=mask, other=0.0)
    before = tl.load(x_ptr + (bt - 1) * D + d, mask=mask & (t > 0), other=0.0)
    carried = tl.load(last_ptr + b * D + d, mask=mask & (t == 0), other=0.0)
    prev = before + carried
    mu = tl.load(mu_ptr + d, mask=mask, other=0.0)
    tl.store(out_ptr + bt * D + d, x + (prev - x) * mu, mask=mask)


def launch(B=3, T=7, D=48):
    x = torch.randn(B, T, D, device="cuda")
    last = torch.randn(B, D, device="cuda")
    mu = torch.rand(D, device="cuda")
    out = torch.empty_like(x)
    token_shift_kernel[(B * T, triton.cdiv(D, 32))](x, last, mu, out, T, D, BLOCK=32)
    return out


def reference(x, last, mu):
    prev = torch.cat([last.unsqueeze(1), x[:, :-1]], dim=1)
    return torch.lerp(x, prev, mu.expand_as(x))


TRUTH = "verified"
