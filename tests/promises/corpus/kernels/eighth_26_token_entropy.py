import torch
import triton
import triton.language as tl


@triton.jit
def entropy_kernel(logits_ptr, out_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = -float("inf")
    s = 0.0
    w = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < V
        x = tl.load(logits_ptr + row * V + cols, mask=mask, other=-float("inf"))
        new_m = tl.maximum(m, tl.max(x, axis=0))
        shrink = tl.exp(m - new_m)
        e = tl.exp(x - new_m)
        s = s * shrink + tl.sum(e, axis=0)
        w = w * shrink + tl.sum(tl.where(mask, e * x, 0.0), axis=0)
        m = new_m
    tl.store(out_ptr + row, m + tl.log(s) - w / s)


def launch(T=6, V=150):
    logits = torch.randn(T, V, device="cuda")
    entropy = torch.empty(T, device="cuda")
    entropy_kernel[(T,)](logits, entropy, V, BLOCK=64)
    return entropy


def reference(logits):
    p = torch.softmax(logits, dim=-1)
    return torch.logsumexp(logits, dim=-1) - (p * logits).sum(dim=-1)


TRUTH = "verified"
