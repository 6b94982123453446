"""Cross entropy with label smoothing, z-loss and ignore_index: one online pass over the vocabulary, mean over the rows that count taken on the host."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def ce_kernel(logits_ptr, labels_ptr, loss_ptr, stride, V, smoothing, z_weight, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    if label == ignore_index:
        tl.store(loss_ptr + row, 0.0)
        return
    base = logits_ptr + row * stride
    m = float("-inf")
    d = 0.0
    total = 0.0
    for start in range(0, V, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(base + offs, mask=offs < V, other=float("-inf")).to(tl.float32)
        total += tl.sum(tl.where(offs < V, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    x_y = tl.load(base + label).to(tl.float32)
    nll = lse - x_y
    smooth = lse - total / V
    loss = (1 - smoothing) * nll + smoothing * smooth + z_weight * lse * lse
    tl.store(loss_ptr + row, loss)


def launch(n_tokens=9, vocab=150):
    logits = torch.randn(n_tokens, vocab, device="cuda")
    labels = torch.randint(0, vocab, (n_tokens,), device="cuda")
    labels[3] = -100
    loss = torch.empty(n_tokens, device="cuda", dtype=torch.float32)
    ce_kernel[(n_tokens,)](logits, labels, loss, logits.stride(0), vocab, 0.1, 1e-4, -100, BLOCK=64)
    return loss.sum() / (labels != -100).sum()


def reference(logits, labels):
    keep = labels != -100
    ce = F.cross_entropy(logits, labels, ignore_index=-100, label_smoothing=0.1, reduction="sum")
    z = torch.where(keep, torch.logsumexp(logits, -1) ** 2, 0.0).sum()
    return (ce + 1e-4 * z) / keep.sum()
TRUTH = "verified"
