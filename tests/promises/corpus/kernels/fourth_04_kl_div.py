"""KL divergence of each row between log-probabilities and a log-target, looping over the vocabulary as Liger does; right."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _kldiv_kernel_forward(y_ptr, y_stride, gt_ptr, gt_stride, loss_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    y_ptr += pid * y_stride
    gt_ptr += pid * gt_stride
    base_offsets = tl.arange(0, BLOCK_SIZE)
    loss_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + base_offsets
        mask = offsets < n_cols
        y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
        y_true = tl.load(gt_ptr + offsets, mask=mask, other=0.0)
        # exp(0) · (0 − 0) is 0: what lies beyond the row adds nothing
        loss = tl.exp(y_true) * (y_true - y)
        loss_sum += tl.sum(loss, axis=0)
    tl.store(loss_ptr + pid, loss_sum)


def launch(BT=5, V=150):
    y_pred = torch.randn(BT, V).log_softmax(-1)
    y_true = torch.randn(BT, V).log_softmax(-1)
    loss = torch.zeros(BT)
    _kldiv_kernel_forward[(BT,)](y_pred, y_pred.stride(0), y_true, y_true.stride(0), loss, V, BLOCK_SIZE=64)
    return loss


def reference(y_pred, y_true):
    return F.kl_div(y_pred, y_true, reduction="none", log_target=True).sum(-1)
