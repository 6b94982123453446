"""Cross entropy of one rank's part of the vocabulary, whose labels may lie on another rank."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def ce_shard_kernel(loss_ptr, lse_ptr, logits_ptr, labels_ptr, ignore_index, class_start, n_cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = logits_ptr + row.to(tl.int64) * stride
    m = float("-inf")
    d = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(base + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    lse = m + tl.log(d)
    tl.store(lse_ptr + row, lse)
    label = tl.load(labels_ptr + row)
    if label == ignore_index:
        loss = 0.0
    else:
        local = label - class_start
        picked = tl.load(base + local).to(tl.float32)
        loss = tl.where((local >= 0) & (local < n_cols), -picked, 0.0)
    tl.store(loss_ptr + row, loss)


def launch():
    rows, shard, rank, world = 15, 210, 1, 3
    logits = torch.randn(rows, shard)
    labels = (torch.arange(rows) * 53 + 40) % (shard * world)
    labels[2] = -100
    loss = torch.empty(rows)
    lse = torch.empty(rows)
    ce_shard_kernel[(rows,)](loss, lse, logits, labels, -100, rank * shard, shard, logits.stride(0), BLOCK=128)
    return loss, lse


def reference(logits, labels):
    shard = logits.shape[1]
    local = labels - 210
    inside = (labels != -100) & (local >= 0) & (local < shard)
    picked = logits.gather(1, local.clamp(0, shard - 1)[:, None]).squeeze(1)
    return torch.where(inside, -picked, 0.0), torch.logsumexp(logits, dim=-1)
