import torch
import triton
import triton.language as tl


@triton.jit
def kl_div_kernel(pred_ptr, target_ptr, loss_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < V
        pred = tl.load(pred_ptr + row * V + cols, mask=mask, other=0.0)
        target = tl.load(target_ptr + row * V + cols, mask=mask, other=0.0)
        loss = target * (tl.log(tl.maximum(target, 1e-10)) - pred)
        total += tl.sum(loss, axis=0)
    tl.store(loss_ptr + row, total)


def launch(B=4, V=150):
    pred = torch.log_softmax(torch.randn(B, V, device="cuda"), dim=-1)
    target = torch.softmax(torch.randn(B, V, device="cuda"), dim=-1)
    loss = torch.empty(B, device="cuda")
    kl_div_kernel[(B,)](pred, target, loss, V, BLOCK=64)
    return loss.sum() / B


def reference(pred, target):
    return (target * (torch.log(target.clamp(min=1e-10)) - pred)).sum(dim=-1).mean()


TRUTH = "verified"
