"""Distillation loss: KL(teacher || student) at temperature 2, both softmaxes online in one pass, then the loss and the student's gradient."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def distill_kl_kernel(s_ptr, t_ptr, loss_ptr, ds_ptr, V, s_stride, t_stride, inv_temp, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    s_ptr += row * s_stride
    t_ptr += row * t_stride
    ds_ptr += row * s_stride
    cols = tl.arange(0, BLOCK)
    sm = -float("inf")
    tm = -float("inf")
    sd = 0.0
    td = 0.0
    for i in range(0, V, BLOCK):
        mask = i + cols < V
        s = tl.load(s_ptr + i + cols, mask=mask, other=-float("inf")) * inv_temp
        t = tl.load(t_ptr + i + cols, mask=mask, other=-float("inf")) * inv_temp
        sm_new = tl.maximum(sm, tl.max(s, axis=0))
        tm_new = tl.maximum(tm, tl.max(t, axis=0))
        sd = sd * tl.exp(sm - sm_new) + tl.sum(tl.exp(s - sm_new), axis=0)
        td = td * tl.exp(tm - tm_new) + tl.sum(tl.exp(t - tm_new), axis=0)
        sm, tm = sm_new, tm_new
    s_lse = sm + tl.log(sd)
    t_lse = tm + tl.log(td)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(0, V, BLOCK):
        mask = i + cols < V
        log_s = tl.load(s_ptr + i + cols, mask=mask, other=0.0) * inv_temp - s_lse
        log_t = tl.load(t_ptr + i + cols, mask=mask, other=0.0) * inv_temp - t_lse
        p_t = tl.exp(log_t)
        acc += tl.where(mask, p_t * (log_t - log_s), 0.0)
        tl.store(ds_ptr + i + cols, (tl.exp(log_s) - p_t) / inv_temp, mask=mask)
    tl.store(loss_ptr + row, tl.sum(acc, axis=0) / (inv_temp * inv_temp))


def launch(tokens=5, vocab=90):
    student = torch.randn(tokens, vocab)
    teacher = torch.randn(tokens, vocab)
    loss = torch.empty(tokens)
    dstudent = torch.empty_like(student)
    distill_kl_kernel[(tokens,)](
        student, teacher, loss, dstudent, vocab, student.stride(0), teacher.stride(0), 0.5, BLOCK=32
    )
    return loss.mean(), dstudent


def reference(student, teacher):
    log_s = F.log_softmax(student / 2.0, dim=-1)
    log_t = F.log_softmax(teacher / 2.0, dim=-1)
    loss = F.kl_div(log_s, log_t, log_target=True, reduction="batchmean") * 4.0
    return loss, 2.0 * (log_s.exp() - log_t.exp())
TRUTH = "verified"
