"""Generalised Jensen-Shannon divergence of student and teacher log-probabilities, with the gradient of the student's."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def jsd_kernel(
    x_ptr, x_stride, y_ptr, y_stride, loss_ptr, loss_stride, dx_ptr, dx_stride,
    beta: tl.constexpr, n_rows, n_cols, BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    x_ptr += pid * x_stride
    y_ptr += pid * y_stride
    dx_ptr += pid * dx_stride
    loss_ptr += pid * loss_stride
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        x = tl.load(x_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        y = tl.load(y_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        q = tl.exp(x)
        p = tl.exp(y)
        beta_p = beta * p
        one_minus_beta_q = (1 - beta) * q
        m = beta_p + one_minus_beta_q
        log_m = tl.log(m)
        loss = beta_p * y + one_minus_beta_q * x - m * log_m
        dx = one_minus_beta_q * (x - log_m)
        scale = 1.0 / n_rows
        tl.store(loss_ptr + offsets, loss * scale, mask=mask)
        tl.store(dx_ptr + offsets, dx * scale, mask=mask)


def launch():
    rows, vocab = 18, 300
    student = torch.log_softmax(torch.randn(rows, vocab), dim=-1)
    teacher = torch.log_softmax(torch.randn(rows, vocab), dim=-1)
    loss = torch.empty(rows, vocab)
    dx = torch.empty_like(student)
    jsd_kernel[(rows,)](
        student, student.stride(-2), teacher, teacher.stride(-2), loss, loss.stride(-2), dx, dx.stride(-2),
        0.1, rows, vocab, BLOCK_SIZE=128,
    )
    return loss, dx


def reference(student, teacher):
    beta = 0.1
    rows = student.shape[0]
    p, q = teacher.exp(), student.exp()
    m = beta * p + (1 - beta) * q
    loss = (beta * p * (teacher - m.log()) + (1 - beta) * q * (student - m.log())) / rows
    dx = (1 - beta) * q * (student - m.log()) / rows
    return loss, dx
