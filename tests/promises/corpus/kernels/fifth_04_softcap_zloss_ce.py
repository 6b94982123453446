"""Cross entropy of soft-capped logits with a z-loss, whose gradient is written over the logits."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def softcap_ce_kernel(
    X_ptr, X_stride, Y_ptr, loss_ptr, z_ptr, n_cols, n_rows, softcap, lse_square_scale,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    X_ptr += row * X_stride
    y = tl.load(Y_ptr + row)
    ori = softcap * _tanh(tl.load(X_ptr + y) / softcap)
    m = float("-inf")
    d = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=0.0)
        x = tl.where(offs < n_cols, softcap * _tanh(x / softcap), float("-inf"))
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    lse = m + tl.log(d)
    for i in range(0, n_cols, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=0.0)
        t = _tanh(x / softcap)
        p = tl.exp(softcap * t - m) / d
        g = p * (1.0 + 2.0 * lse_square_scale * lse)
        g = tl.where(offs == y, g - 1.0, g)
        g = g * (1.0 - t * t) / n_rows
        tl.store(X_ptr + offs, g, mask=offs < n_cols)
    z = lse_square_scale * lse * lse
    tl.store(loss_ptr + row, (lse - ori + z) / n_rows)
    tl.store(z_ptr + row, z / n_rows)


def launch():
    rows, vocab = 13, 450
    logits = torch.randn(rows, vocab) * 5
    target = torch.randint(0, vocab, (rows,))
    loss = torch.zeros(rows)
    z_loss = torch.zeros(rows)
    softcap_ce_kernel[(rows,)](logits, logits.stride(0), target, loss, z_loss, vocab, rows, 30.0, 1e-4, BLOCK_SIZE=128)
    return logits, loss, z_loss


def reference(logits, target):
    rows, vocab = logits.shape
    t = torch.tanh(logits / 30.0)
    capped = 30.0 * t
    lse = torch.logsumexp(capped, dim=-1)
    z = 1e-4 * lse.square()
    picked = capped.gather(1, target[:, None]).squeeze(1)
    hot = (torch.arange(vocab)[None, :] == target[:, None]).float()
    p = torch.softmax(capped, dim=-1)
    grad = (p * (1.0 + 2e-4 * lse[:, None]) - hot) * (1.0 - t * t) / rows
    return grad, (lse - picked + z) / rows, z / rows
