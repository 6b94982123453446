"""Cross-entropy per token with ignore_index, the vocabulary streamed in blocks (online logsumexp)."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def liger_like_ce_kernel(X_ptr, X_stride, Y_ptr, loss_ptr, n_cols, ignore_index, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + program_id)
    if y == ignore_index:
        tl.store(loss_ptr + program_id, 0.0)
    else:
        X_ptr += program_id * X_stride
        m = float("-inf")
        d = 0.0
        ori_X_y = tl.load(X_ptr + y).to(tl.float32)
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).to(tl.float32)
            block_max = tl.max(X_block)
            m_new = tl.maximum(m, block_max)
            d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
            m = m_new
        lse = m + tl.log(d)
        tl.store(loss_ptr + program_id, lse - ori_X_y)


def launch(logits, labels):
    n_rows, V = logits.shape
    loss = torch.empty(n_rows, dtype=torch.float32, device=logits.device)
    liger_like_ce_kernel[(n_rows,)](logits, logits.stride(0), labels, loss, V, -100, BLOCK_SIZE=64)
    return loss


def reference(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=-100, reduction="none")


def inputs(tokens=11, vocab=150):
    labels = torch.randint(0, vocab, (tokens,))
    labels[::4] = -100
    return torch.randn(tokens, vocab) * 3, labels
