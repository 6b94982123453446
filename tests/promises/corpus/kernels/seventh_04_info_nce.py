"""InfoNCE over in-batch negatives without the B x B matrix in memory: tl.dot tiles and an online logsumexp."""
import torch
import triton
import triton.language as tl


@triton.jit
def info_nce_fwd(
    q_ptr, k_ptr, loss_ptr, lse_ptr,
    B, inv_tau,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0)
    m = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :], mask=m[:, None] < B, other=0.0)

    running_max = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    running_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    for start in range(0, B, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[:, None] * D + d[None, :], mask=n[:, None] < B, other=0.0)
        logits = tl.dot(q, tl.trans(k)) * inv_tau
        logits = tl.where(n[None, :] < B, logits, -float("inf"))
        new_max = tl.maximum(running_max, tl.max(logits, axis=1))
        running_sum = running_sum * tl.exp(running_max - new_max) + tl.sum(tl.exp(logits - new_max[:, None]), axis=1)
        running_max = new_max
    lse = running_max + tl.log(running_sum)

    positive = tl.load(k_ptr + m[:, None] * D + d[None, :], mask=m[:, None] < B, other=0.0)
    pos_logit = tl.sum(q.to(tl.float32) * positive.to(tl.float32), axis=1) * inv_tau
    tl.store(loss_ptr + m, lse - pos_logit, mask=m < B)
    tl.store(lse_ptr + m, lse, mask=m < B)


def launch(B=41):
    q = torch.randn(B, 32, dtype=torch.float16, device="cuda")
    k = torch.randn(B, 32, dtype=torch.float16, device="cuda")
    loss = torch.empty(B, device="cuda")
    lse = torch.empty(B, device="cuda")
    info_nce_fwd[(triton.cdiv(B, 16),)](q, k, loss, lse, B, 4.0, D=32, BLOCK_M=16, BLOCK_N=16)
    return loss.mean(), lse


def reference(q, k):
    logits = q.float() @ k.float().T / 0.25
    labels = torch.arange(q.shape[0], device=q.device)
    return torch.nn.functional.cross_entropy(logits, labels), torch.logsumexp(logits, dim=1)


TRUTH = "verified"
