import torch
import triton
import triton.language as tl

_REDUCTION_MODE_NONE = tl.constexpr(0)
_REDUCTION_MODE_SUM = tl.constexpr(1)
_REDUCTION_MODE_BATCHMEAN = tl.constexpr(3)


@triton.jit
def _kldiv_kernel_forward(
    y_ptr,  # [B, S], prediction ptr, the kernel expects the prediction in log-space
    y_stride,
    gt_ptr,  # [B, S], ground truth ptr
    gt_stride,
    loss_ptr,
    loss_stride,
    n_cols,
    eps,
    BLOCK_SIZE: tl.constexpr,
    log_target: tl.constexpr = False,
    reduction: tl.constexpr = _REDUCTION_MODE_BATCHMEAN,
):
    pid = tl.program_id(0).to(tl.int64)
    y_ptr += pid * y_stride
    gt_ptr += pid * gt_stride
    loss_ptr += pid * loss_stride

    base_offsets = tl.arange(0, BLOCK_SIZE)

    loss_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + base_offsets
        mask = offsets < n_cols
        y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
        y_true = tl.load(gt_ptr + offsets, mask=mask, other=0.0)

        # KL(y_true || y) = y_true * (log(y_true) - log(y))
        if not log_target:
            loss = y_true * (tl.log(tl.maximum(y_true, eps)) - y)
        else:
            loss = tl.exp(y_true) * (y_true - y)

        if reduction == _REDUCTION_MODE_NONE:
            tl.store(loss_ptr + offsets, loss, mask=mask)
        else:
            loss_sum += tl.sum(loss, axis=0)

    if reduction != _REDUCTION_MODE_NONE:
        tl.store(loss_ptr, loss_sum)


def kldiv_forward_triton(y_pred, y_true, log_target, reduction, eps):
    BT, V = y_pred.shape
    output_tensor = torch.zeros((BT,), dtype=torch.float32)
    _kldiv_kernel_forward[(BT,)](
        y_pred, y_pred.stride(0), y_true, y_true.stride(0), output_tensor, output_tensor.stride(0),
        V, eps=eps, BLOCK_SIZE=64, log_target=log_target, reduction=reduction,
    )
    return output_tensor.sum() / BT


def launch():
    BT, V = 7, 130
    y_pred = torch.randn(BT, V).log_softmax(-1)
    y_true = torch.randn(BT, V).softmax(-1)
    return kldiv_forward_triton(y_pred, y_true, False, 3, 1e-10)


def reference(y_pred, y_true):
    logs = y_true.clamp(min=1e-10).log()
    return (y_true * (logs - y_pred)).sum() / y_pred.shape[0]


TRUTH = "verified"
