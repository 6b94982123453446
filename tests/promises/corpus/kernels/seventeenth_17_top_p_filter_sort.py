"""Sampler: temperature and top-p filter of logits: tl.sort descending, softmax, tl.cumsum, everything below the threshold becomes -inf, in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def top_p_filter_kernel(logits_ptr, temp_ptr, top_p_ptr, stride, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < vocab
    temp = tl.load(temp_ptr + row)
    top_p = tl.load(top_p_ptr + row)
    x = tl.load(logits_ptr + row * stride + cols, mask=mask, other=-float("inf")) / temp
    s = tl.sort(x, descending=True)
    e = tl.exp(s - tl.max(s, axis=0))
    p = e / tl.sum(e, axis=0)
    before = tl.cumsum(p, axis=0) - p
    keep = (before < top_p) & mask
    threshold = tl.min(tl.where(keep, s, float("inf")), axis=0)
    tl.store(logits_ptr + row * stride + cols, tl.where(x >= threshold, x, -float("inf")), mask=mask)


def launch(batch=4, vocab=100):
    logits = torch.randn(batch, vocab, device="cuda")
    temperature = torch.rand(batch, device="cuda") + 0.5
    top_p = torch.rand(batch, device="cuda") * 0.5 + 0.4
    top_p_filter_kernel[(batch,)](
        logits, temperature, top_p, logits.stride(0), vocab, BLOCK=triton.next_power_of_2(vocab)
    )
    return logits


def reference(logits, temperature, top_p):
    x = logits / temperature[:, None]
    s = x.sort(dim=-1, descending=True).values
    p = s.softmax(-1)
    keep = p.cumsum(-1) - p < top_p[:, None]
    threshold = s.masked_fill(~keep, float("inf")).amin(-1, keepdim=True)
    return x.masked_fill(x < threshold, -float("inf"))

TRUTH = "verified"
