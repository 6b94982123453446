"""Top-n-sigma sampling: logits further below the row's maximum than n standard deviations become -inf, the rest are divided by the request's temperature."""
import torch
import triton
import triton.language as tl


@triton.jit
def _top_nsigma_kernel(logits_ptr, out_ptr, n_ptr, temp_ptr, V, stride,
                       BLOCK: tl.constexpr):
    req = tl.program_id(0)
    logits_ptr += req * stride
    out_ptr += req * stride
    n_sigma = tl.load(n_ptr + req)
    temp = tl.load(temp_ptr + req)

    offs = tl.arange(0, BLOCK)
    peak = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(0, V, BLOCK):
        mask = i + offs < V
        x = tl.load(logits_ptr + i + offs, mask=mask, other=float("-inf"))
        peak = tl.maximum(peak, x)
        total += tl.where(mask, x, 0.0)
    max_logit = tl.max(peak, 0)
    mean = tl.sum(total, 0) / V

    sq = tl.zeros([BLOCK], tl.float32)
    for i in range(0, V, BLOCK):
        mask = i + offs < V
        x = tl.load(logits_ptr + i + offs, mask=mask, other=0.0)
        d = tl.where(mask, x - mean, 0.0)
        sq += d * d
    std = tl.sqrt(tl.sum(sq, 0) / (V - 1))

    threshold = max_logit - n_sigma * std
    for i in range(0, V, BLOCK):
        mask = i + offs < V
        x = tl.load(logits_ptr + i + offs, mask=mask, other=0.0)
        tl.store(out_ptr + i + offs, tl.where(x < threshold, float("-inf"), x / temp), mask=mask)


def launch(requests=3, V=150):
    logits = torch.randn(requests, V, device="cuda")
    n_sigma = torch.rand(requests, device="cuda")
    temperature = torch.rand(requests, device="cuda")
    out = torch.empty_like(logits)
    _top_nsigma_kernel[(requests,)](logits, out, n_sigma, temperature, V, logits.stride(0), BLOCK=64)
    return out


def reference(logits, n_sigma, temperature):
    cut = logits.max(-1, keepdim=True).values - n_sigma[:, None] * logits.std(-1, keepdim=True)
    return (logits / temperature[:, None]).masked_fill(logits < cut, float("-inf"))

TRUTH = "verified"
