"""Label-smoothed cross entropy with an online log-sum-exp over blocks of the vocabulary, and ignore_index = -100."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, stride, vocab, smoothing, IGNORE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    base = logits_ptr + row * stride
    if label == IGNORE:
        tl.store(loss_ptr + row, 0.0)
        return

    m = float("-inf")
    d = 0.0
    total = 0.0
    for start in range(0, vocab, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(base + cols, mask=cols < vocab, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        total += tl.sum(tl.where(cols < vocab, x, 0.0), axis=0)
        m = m_new
    lse = m + tl.log(d)
    picked = tl.load(base + label).to(tl.float32)
    loss = (1.0 - smoothing) * (lse - picked) + smoothing * (lse - total / vocab)
    tl.store(loss_ptr + row, loss)


def launch(tokens=7, vocab=300):
    logits = torch.randn(tokens, vocab, device="cuda")
    labels = torch.randint(0, vocab, (tokens,), device="cuda")
    labels[1] = -100
    loss = torch.empty(tokens, device="cuda", dtype=torch.float32)
    cross_entropy_kernel[(tokens,)](logits, labels, loss, logits.stride(0), vocab, 0.1, IGNORE=-100, BLOCK=128)
    return loss


def reference(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=-100, label_smoothing=0.1, reduction="none")


TRUTH = "verified"
