"""Skewed forward KL for distillation from logits, KL(p, a·p + (1 − a)·q), with the gradient of the student's logits."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def skew_kl_kernel(s_ptr, t_ptr, loss_ptr, grad_ptr, stride, n_cols, ALPHA: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < n_cols
    s = tl.load(s_ptr + row * stride + offs, mask=mask, other=float("-inf"))
    t = tl.load(t_ptr + row * stride + offs, mask=mask, other=float("-inf"))
    es = tl.exp(s - tl.max(s, axis=0))
    et = tl.exp(t - tl.max(t, axis=0))
    q = es / tl.sum(es, axis=0)
    p = et / tl.sum(et, axis=0)
    m = tl.where(mask, ALPHA * p + (1.0 - ALPHA) * q, 1.0)
    log_p = t - tl.max(t, axis=0) - tl.log(tl.sum(et, axis=0))
    kl = tl.where(mask, p * (log_p - tl.log(m)), 0.0)
    tl.store(loss_ptr + row, tl.sum(kl, axis=0))
    # d loss / d q, then through the softmax
    dq = -(1.0 - ALPHA) * p / m
    dot = tl.sum(tl.where(mask, dq * p, 0.0), axis=0)
    tl.store(grad_ptr + row * stride + offs, q * (dq - dot), mask=mask)


def launch():
    rows, vocab = 16, 180
    student = torch.randn(rows, vocab)
    teacher = torch.randn(rows, vocab)
    loss = torch.empty(rows)
    grad = torch.empty_like(student)
    skew_kl_kernel[(rows,)](student, teacher, loss, grad, student.stride(0), vocab, ALPHA=0.3, BLOCK=triton.next_power_of_2(vocab))
    return loss, grad


def reference(student, teacher):
    q = torch.softmax(student, dim=-1)
    log_p = torch.log_softmax(teacher, dim=-1)
    p = log_p.exp()
    m = 0.3 * p + 0.7 * q
    loss = (p * (log_p - m.log())).sum(-1)
    dq = -0.7 * p / m
    return loss, q * (dq - (dq * q).sum(-1, keepdim=True))
