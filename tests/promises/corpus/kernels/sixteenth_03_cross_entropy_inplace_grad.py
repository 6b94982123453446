"""Liger-style cross entropy: online softmax over vocabulary tiles, ignore_index, label smoothing, gradient written over the logits."""
import torch
import triton
import triton.language as tl


@triton.jit
def _cross_entropy_kernel(
    X_ptr, X_stride, Y_ptr, loss_ptr,
    n_cols, ignore_index,
    label_smoothing: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + row)
    X_ptr += row * X_stride

    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            offs = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + offs, 0.0, mask=offs < n_cols)
        tl.store(loss_ptr + row, 0.0)
        return

    ori_y = tl.load(X_ptr + y).to(tl.float32)
    m = float("-inf")
    d = 0.0
    x_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
        block_max = tl.max(x)
        if label_smoothing > 0:
            x_sum += tl.sum(tl.where(offs < n_cols, x, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)

    eps = label_smoothing / n_cols
    tl.debug_barrier()
    for i in range(0, n_cols, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
        g = tl.exp(x - m) / d - eps
        g = tl.where(offs == y, g - (1 - label_smoothing), g)
        tl.store(X_ptr + offs, g, mask=offs < n_cols)

    loss = lse - ori_y
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss + label_smoothing * lse - eps * x_sum
    tl.store(loss_ptr + row, loss)


def launch(rows=6, vocab=200):
    logits = torch.randn(rows, vocab, device="cuda")
    target = torch.randint(0, vocab, (rows,), device="cuda")
    target[2] = -100
    loss = torch.zeros(rows, device="cuda")
    _cross_entropy_kernel[(rows,)](
        logits, logits.stride(0), target, loss, vocab, -100,
        label_smoothing=0.1, BLOCK_SIZE=64, num_warps=4,
    )
    return loss, logits


def reference(logits, target):
    V = logits.shape[1]
    keep = target != -100
    safe = torch.where(keep, target, 0)
    logp = torch.log_softmax(logits, dim=-1)
    nll = -logp.gather(1, safe[:, None])[:, 0]
    smooth = -logp.mean(-1)
    loss = torch.where(keep, 0.9 * nll + 0.1 * smooth, 0.0)
    hot = torch.nn.functional.one_hot(safe, V).to(logits.dtype)
    grad = torch.softmax(logits, -1) - 0.9 * hot - 0.1 / V
    return loss, torch.where(keep[:, None], grad, 0.0)

TRUTH = "verified"
