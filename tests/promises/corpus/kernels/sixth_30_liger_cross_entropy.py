import torch
import triton
import triton.language as tl

MAX_FUSED_SIZE = 65536 // 2


@triton.jit
def liger_cross_entropy_kernel(
    X_ptr,
    X_stride,
    Y_ptr,
    Y_stride,
    loss_ptr,
    loss_stride,
    n_cols,
    n_non_ignore,
    ignore_index,
    label_smoothing: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    """
    Computes the loss of one row and replaces the row of logits by its gradient.
    """
    program_id = tl.program_id(0).to(tl.int64)

    Y_ptr += program_id * Y_stride
    y = tl.load(Y_ptr)

    X_ptr += program_id * X_stride

    if y == ignore_index:
        # set all X_ptr as 0
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return

    loss_ptr += program_id * loss_stride

    # Online softmax: 2 loads + 1 store
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols

    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).to(tl.float32)
        block_max = tl.max(X_block)
        if label_smoothing > 0:
            scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new

    lse = m + tl.log(d)

    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).to(tl.float32)
        X_block = tl.exp(X_block - m) / d
        X_block += -eps
        X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
        X_block = X_block / n_non_ignore
        tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)

    # the value at y was read before it was overwritten
    tl.debug_barrier()

    loss = lse - ori_X_y
    if label_smoothing > 0:
        smooth_loss = scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth_loss
    loss = loss / n_non_ignore
    tl.store(loss_ptr, loss)


def cross_entropy_forward(_input, target, ignore_index, label_smoothing, n_non_ignore):
    BT, V = _input.shape
    BLOCK_SIZE = min(MAX_FUSED_SIZE, 64)
    loss_1d = torch.zeros(BT, dtype=_input.dtype, device=_input.device)
    liger_cross_entropy_kernel[(BT,)](
        X_ptr=_input,
        X_stride=_input.stride(-2),
        Y_ptr=target,
        Y_stride=target.stride(-1),
        loss_ptr=loss_1d,
        loss_stride=loss_1d.stride(-1),
        n_cols=V,
        n_non_ignore=n_non_ignore,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return loss_1d, _input


def launch(BT=6, V=150):
    logits = torch.randn(BT, V)
    target = torch.randint(0, V, (BT,))
    loss, grad = cross_entropy_forward(logits, target, -100, 0.1, BT)
    return loss, grad


def reference(logits, target):
    n, v = logits.shape
    logp = torch.log_softmax(logits, dim=-1)
    hot = torch.nn.functional.one_hot(target, v).to(logits.dtype)
    q = 0.9 * hot + 0.1 / v
    return -(q * logp).sum(-1) / n, (logp.exp() - q) / n


TRUTH = "verified"
