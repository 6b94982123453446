import torch
import triton
import triton.language as tl


@triton.jit
def jsd_kernel(x_ptr, y_ptr, loss_ptr, dx_ptr, V, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for i in range(0, V, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        mask = cols < V
        x = tl.load(x_ptr + row * V + cols, mask=mask, other=-float("inf"))
        y = tl.load(y_ptr + row * V + cols, mask=mask, other=-float("inf"))
        q = tl.exp(x)
        p = tl.exp(y)
        m = 0.5 * (p + q)
        log_m = tl.log(m)
        loss = 0.5 * (p * (y - log_m) + q * (x - log_m))
        dx = 0.5 * q * (x - log_m)
        tl.store(loss_ptr + row * V + cols, loss * scale, mask=mask)
        tl.store(dx_ptr + row * V + cols, dx * scale, mask=mask)


def launch(B=4, V=100):
    student = torch.log_softmax(torch.randn(B, V, device="cuda"), dim=-1)
    teacher = torch.log_softmax(torch.randn(B, V, device="cuda"), dim=-1)
    loss = torch.empty_like(student)
    grad = torch.empty_like(student)
    jsd_kernel[(B,)](student, teacher, loss, grad, V, 1.0 / B, BLOCK=64)
    return loss.sum(), grad


def reference(student, teacher):
    q, p = student.exp(), teacher.exp()
    log_m = torch.log((p + q) / 2)
    n = student.shape[0]
    kl_p = (p * (teacher - log_m)).sum()
    kl_q = (q * (student - log_m)).sum()
    return (kl_p + kl_q) / (2 * n), q * (student - log_m) / (2 * n)


TRUTH = "verified"
