"""Attentive statistics pooling of a speaker encoder (ECAPA-TDNN): mean and standard deviation over time under softmax
weights, in one pass with an online softmax."""
import torch
import triton
import triton.language as tl


@triton.jit
def attentive_pool_kernel(
    x_ptr, logit_ptr, mean_ptr, std_ptr,
    rows, T, eps,
    BLOCK_R: tl.constexpr, BLOCK_T: tl.constexpr,
):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    row_mask = r < rows
    m = tl.full([BLOCK_R], float("-inf"), dtype=tl.float32)
    norm = tl.zeros([BLOCK_R], dtype=tl.float32)
    s1 = tl.zeros([BLOCK_R], dtype=tl.float32)
    s2 = tl.zeros([BLOCK_R], dtype=tl.float32)
    for start in range(0, T, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        mask = row_mask[:, None] & (t < T)[None, :]
        a = tl.load(logit_ptr + r[:, None] * T + t[None, :], mask=mask, other=float("-inf"))
        a = tl.where(row_mask[:, None], a, 0.0)
        x = tl.load(x_ptr + r[:, None] * T + t[None, :], mask=mask, other=0.0)
        m_new = tl.maximum(m, tl.max(a, axis=1))
        alpha = tl.exp(m - m_new)
        w = tl.exp(a - m_new[:, None])
        norm = norm * alpha + tl.sum(w, axis=1)
        s1 = s1 * alpha + tl.sum(w * x, axis=1)
        s2 += tl.sum(w * x * x, axis=1)
        m = m_new
    mean = s1 / norm
    var = s2 / norm - mean * mean
    tl.store(mean_ptr + r, mean, mask=row_mask)
    tl.store(std_ptr + r, tl.sqrt(tl.maximum(var, eps)), mask=row_mask)


def launch(batch=3, channels=7, T=77):
    x = torch.randn(batch, channels, T, device="cuda")
    logits = torch.randn(batch, channels, T, device="cuda")
    mean = torch.empty(batch, channels, device="cuda")
    std = torch.empty(batch, channels, device="cuda")
    rows = batch * channels
    attentive_pool_kernel[(triton.cdiv(rows, 4),)](x, logits, mean, std, rows, T, 1e-5, BLOCK_R=4, BLOCK_T=32)
    return mean, std


def reference(x, logits):
    w = logits.softmax(-1)
    mean = (w * x).sum(-1)
    var = (w * x * x).sum(-1) - mean * mean
    return mean, var.clamp(min=1e-5).sqrt()


TRUTH = "broken"
# WHY: the running second moment is not rescaled by alpha when the maximum grows, as norm and s1 are.
