# broken: the running sum is not rescaled when the maximum grows
import torch
import triton
import triton.language as tl


@triton.jit
def z_loss_kernel(logits_ptr, lse_ptr, z_ptr, V, coef, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = -float("inf")
    s = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + cols, mask=cols < V, other=-float("inf"))
        m = tl.maximum(m, tl.max(x, axis=0))
        s += tl.sum(tl.exp(x - m), axis=0)
    lse = m + tl.log(s)
    tl.store(lse_ptr + row, lse)
    tl.store(z_ptr + row, coef * lse * lse)


def launch(T=6, V=120):
    logits = torch.randn(T, V, device="cuda")
    lse = torch.empty(T, device="cuda")
    z = torch.empty(T, device="cuda")
    z_loss_kernel[(T,)](logits, lse, z, V, 0.001, BLOCK=32)
    return lse, z


def reference(logits):
    lse = torch.logsumexp(logits, dim=-1)
    return lse, 0.001 * lse.square()


TRUTH = "broken"
