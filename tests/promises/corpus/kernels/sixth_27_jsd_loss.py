import torch
import triton
import triton.language as tl


@triton.jit
def _jsd_kernel(
    X_ptr,  # input in logspace, X = log Q
    X_stride,
    Y_ptr,  # ground truth in logspace, Y = log P
    Y_stride,
    loss_ptr,
    loss_stride,
    dX_ptr,
    dX_stride,
    beta: tl.constexpr,
    n_rows,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
):
    # JSD(P || Q) = beta * KL(P || M) + (1 - beta) * KL(Q || M)
    # with M = beta * P + (1 - beta) * Q
    pid = tl.program_id(0).to(tl.int64)
    X_ptr += pid * X_stride
    dX_ptr += pid * dX_stride
    Y_ptr += pid * Y_stride
    loss_ptr += pid * loss_stride

    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        X = tl.load(X_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        Y = tl.load(Y_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        X = tl.where(mask, X, 0.0)
        Y = tl.where(mask, Y, 0.0)
        Q = tl.exp(X)
        P = tl.exp(Y)
        M = beta * Q + (1 - beta) * P
        log_M = tl.log(M)
        loss = beta * P * (Y - log_M) + (1 - beta) * Q * (X - log_M)
        loss = loss / n_rows
        tl.store(loss_ptr + offsets, loss, mask=mask)
        dX = (1 - beta) * Q * (X - log_M) / n_rows
        tl.store(dX_ptr + offsets, dX, mask=mask)


def jsd_forward(_input, target, beta):
    BT, V = _input.shape
    loss = torch.zeros(_input.shape, dtype=torch.float32)
    dX = torch.empty_like(_input)
    _jsd_kernel[(BT,)](
        X_ptr=_input, X_stride=_input.stride(-2),
        Y_ptr=target, Y_stride=target.stride(-2),
        loss_ptr=loss, loss_stride=loss.stride(-2),
        dX_ptr=dX, dX_stride=dX.stride(-2),
        beta=beta, n_rows=BT, n_cols=V, BLOCK_SIZE=32)
    return torch.sum(loss), dX


def launch(BT=5, V=44):
    student = torch.randn(BT, V).log_softmax(-1)
    teacher = torch.randn(BT, V).log_softmax(-1)
    return jsd_forward(student, teacher, 0.2)


def reference(student, teacher):
    n = student.shape[0]
    q, p = student.exp(), teacher.exp()
    log_m = (0.2 * p + 0.8 * q).log()
    loss = (0.2 * p * (teacher - log_m) + 0.8 * q * (student - log_m)).sum() / n
    return loss, 0.8 * q * (student - log_m) / n


TRUTH = "broken"
