"""Cross entropy with label smoothing, z-loss and ignore_index in one online pass over the vocabulary; also returns the log-sum-exp."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    logits_ptr, labels_ptr, loss_ptr, lse_ptr,
    row_stride, V,
    label_smoothing: tl.constexpr, z_weight: tl.constexpr, ignore_index: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride
    label = tl.load(labels_ptr + row)

    m = -float("inf")
    d = 0.0
    total = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        total += tl.sum(tl.where(cols < V, x, 0.0), axis=0)
        m = m_new
    lse = m + tl.log(d)
    tl.store(lse_ptr + row, lse)

    if label == ignore_index:
        tl.store(loss_ptr + row, 0.0)
    else:
        x_y = tl.load(logits_ptr + label).to(tl.float32)
        loss = lse - (1.0 - label_smoothing) * x_y - label_smoothing * (total / V)
        loss += z_weight * lse * lse
        tl.store(loss_ptr + row, loss)


def launch(N=6, V=150):
    logits = torch.randn(N, V, device="cuda")
    labels = torch.randint(0, V, (N,), device="cuda")
    labels[1] = -100
    loss = torch.empty(N, device="cuda", dtype=torch.float32)
    lse = torch.empty(N, device="cuda", dtype=torch.float32)
    cross_entropy_kernel[(N,)](
        logits, labels, loss, lse,
        logits.stride(0), V,
        label_smoothing=0.1, z_weight=1e-4, ignore_index=-100,
        BLOCK=64,
    )
    return loss, lse


def reference(logits, labels):
    lse = torch.logsumexp(logits, dim=-1)
    ce = F.cross_entropy(logits, labels, ignore_index=-100, label_smoothing=0.1, reduction="none")
    z_loss = torch.where(labels == -100, 0.0, 1e-4 * lse * lse)
    return ce + z_loss, lse

TRUTH = "verified"
