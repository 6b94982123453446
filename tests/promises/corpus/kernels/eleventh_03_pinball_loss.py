import torch
import triton
import triton.language as tl


# quantile regression (pinball) loss, several quantiles at once; mean over samples for each quantile
@triton.jit
def pinball_kernel(pred_ptr, target_ptr, tau_ptr, loss_ptr, n, Q, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    q = tl.program_id(1)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    tau = tl.load(tau_ptr + q)
    y = tl.load(target_ptr + idx, mask=mask, other=0.0)
    p = tl.load(pred_ptr + idx * Q + q, mask=mask, other=0.0)
    e = y - p
    loss = tl.maximum(tau * e, (tau - 1.0) * e)
    loss = tl.where(mask, loss, 0.0)
    tl.atomic_add(loss_ptr + q, tl.sum(loss, axis=0) / n)


def launch(n=700, quantiles=5):
    pred = torch.randn(n, quantiles, device="cuda")
    target = torch.randn(n, device="cuda")
    tau = torch.rand(quantiles, device="cuda")
    loss = torch.zeros(quantiles, device="cuda")
    pinball_kernel[(triton.cdiv(n, 256), quantiles)](pred, target, tau, loss, n, quantiles, BLOCK=256)
    return loss


def reference(pred, target, tau):
    e = target[:, None] - pred
    return torch.maximum(tau * e, (tau - 1) * e).mean(0)


TRUTH = "verified"
