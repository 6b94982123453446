"""xent, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _cross_entropy_fwd_bwd(
    X_ptr,
    X_stride,
    Y_ptr,
    loss_ptr,
    n_cols,
    ignore_index,
    label_smoothing,
    lse_square_scale,
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

    m = float("-inf")
    d = 0.0
    x_y = tl.load(X_ptr + y).to(tl.float32)
    eps = label_smoothing / n_cols
    scaled_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, 0))
        scaled_sum += tl.sum(tl.where(offs < n_cols, -eps * x, 0.0), 0)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    lse = m + tl.log(d)

    for i in range(0, n_cols, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
        p = tl.exp(x - m) / d
        g = p + 2 * lse_square_scale * lse * p - eps
        g = tl.where(offs == y, g - (1 - label_smoothing), g)
        tl.store(X_ptr + offs, g, mask=offs < n_cols)

    loss = (lse - x_y) * (1 - label_smoothing) + scaled_sum + label_smoothing * lse
    loss += lse_square_scale * lse * lse
    tl.store(loss_ptr + row, loss)


def cross_entropy_fwd_bwd(logits, target, label_smoothing=0.1, lse_square_scale=1e-4):
    BT, V = logits.shape
    loss = torch.zeros(BT, dtype=torch.float32, device=logits.device)
    _cross_entropy_fwd_bwd[(BT,)](
        logits, logits.stride(0), target, loss, V, -100, label_smoothing, lse_square_scale,
        BLOCK_SIZE=64, num_warps=8,
    )
    return loss, logits


def launch(tokens=7, vocab=150):
    logits = torch.randn(tokens, vocab, device="cuda")
    target = torch.randint(0, vocab, (tokens,), device="cuda")
    target[2] = -100
    return cross_entropy_fwd_bwd(logits, target)


def reference(logits, target):
    lse = torch.logsumexp(logits, -1)
    keep = target != -100
    loss = torch.nn.functional.cross_entropy(logits, target, ignore_index=-100, label_smoothing=0.1, reduction="none")
    loss = torch.where(keep, loss + 1e-4 * lse * lse, 0.0)
    p = logits.softmax(-1)
    cols = torch.arange(logits.shape[1], device=logits.device)
    hot = (cols[None, :] == target[:, None]).float()
    grad = p + 2e-4 * lse[:, None] * p - 0.1 / logits.shape[1] - 0.9 * hot
    return loss, torch.where(keep[:, None], grad, 0.0)


TRUTH = "verified"
