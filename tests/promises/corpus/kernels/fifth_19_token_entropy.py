"""Entropy of each row's softmax in one pass over the vocabulary, rescaled online."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def entropy_kernel(logits_ptr, stride, out_ptr, lse_ptr, vocab, inv_temperature, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    base = logits_ptr + row * stride
    m = float("-inf")
    d = 0.0
    s = 0.0
    for start in range(0, vocab, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < vocab
        x = tl.load(base + offs, mask=mask, other=0.0).to(tl.float32) * inv_temperature
        m_new = tl.maximum(m, tl.max(tl.where(mask, x, float("-inf")), axis=0))
        alpha = tl.exp(m - m_new)
        e = tl.where(mask, tl.exp(x - m_new), 0.0)
        d = d * alpha + tl.sum(e, axis=0)
        s = s * alpha + tl.sum(e * x, axis=0)
        m = m_new
    lse = m + tl.log(d)
    tl.store(lse_ptr + row, lse)
    tl.store(out_ptr + row, lse - s / d)


def launch():
    tokens, vocab = 20, 500
    logits = torch.randn(tokens, vocab) * 2
    entropy = torch.empty(tokens)
    lse = torch.empty(tokens)
    entropy_kernel[(tokens,)](logits, logits.stride(0), entropy, lse, vocab, 1.25, BLOCK=128)
    return entropy, lse


def reference(logits):
    z = logits * 1.25
    logp = torch.log_softmax(z, dim=-1)
    return -(logp.exp() * logp).sum(-1), torch.logsumexp(z, dim=-1)
