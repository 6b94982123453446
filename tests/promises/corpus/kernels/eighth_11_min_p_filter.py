# Sampling with min-p: keep what is at least min_p times as likely as the likeliest token.
import torch
import triton
import triton.language as tl


@triton.jit
def min_p_kernel(logits_ptr, min_p_ptr, out_ptr, V, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < V
    x = tl.load(logits_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    best = tl.max(x, axis=0)
    ratio = tl.exp(x - best)
    keep = ratio >= tl.load(min_p_ptr + row)
    tl.store(out_ptr + row * stride + cols, tl.where(keep, x, -float("inf")), mask=mask)


def launch(B=4, V=100):
    logits = torch.randn(B, V, device="cuda")
    min_p = torch.rand(B, device="cuda") * 0.3
    out = torch.empty_like(logits)
    min_p_kernel[(B,)](logits, min_p, out, V, logits.stride(0), BLOCK=triton.next_power_of_2(V))
    return out


def reference(logits, min_p):
    probs = torch.softmax(logits, dim=-1)
    limit = min_p[:, None] * probs.amax(dim=-1, keepdim=True)
    return torch.where(probs >= limit, logits, float("-inf"))


TRUTH = "verified"
