import torch
import triton
import triton.language as tl


# KTO: sequence log-probs from token log-probs, loss, and the gradient with respect to the policy's sequence log-prob
@triton.jit
def kto_kernel(policy_ptr, ref_ptr, mask_ptr, label_ptr, kl_ptr, loss_ptr, grad_ptr, T, beta, n_seqs, BLOCK_T: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK_T,), dtype=tl.float32)
    for start in range(0, T, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        inb = t < T
        use = tl.load(mask_ptr + row * T + t, mask=inb, other=0)
        p = tl.load(policy_ptr + row * T + t, mask=inb, other=0.0)
        r = tl.load(ref_ptr + row * T + t, mask=inb, other=0.0)
        acc += tl.where(use != 0, p - r, 0.0)
    logratio = tl.sum(acc, axis=0)
    kl = tl.load(kl_ptr)
    desirable = tl.load(label_ptr + row) != 0
    z = beta * (logratio - kl)
    s = tl.sigmoid(tl.where(desirable, z, -z))
    tl.store(loss_ptr + row, (1.0 - s) / n_seqs)
    tl.store(grad_ptr + row, -beta * s * (1.0 - s) / n_seqs)


def launch(seqs=12, tokens=90):
    policy = torch.randn(seqs, tokens, device="cuda")
    ref = torch.randn(seqs, tokens, device="cuda")
    mask = torch.randint(0, 2, (seqs, tokens), dtype=torch.int32, device="cuda")
    labels = torch.randint(0, 2, (seqs,), dtype=torch.int32, device="cuda")
    kl = torch.rand(1, device="cuda")
    loss = torch.empty(seqs, device="cuda")
    grad = torch.empty(seqs, device="cuda")
    kto_kernel[(seqs,)](policy, ref, mask, labels, kl, loss, grad, tokens, 0.1, seqs, BLOCK_T=64)
    return loss, grad


def reference(policy, ref, mask, labels, kl):
    n = policy.shape[0]
    logratio = ((policy - ref) * mask).sum(-1)
    sign = torch.where(labels != 0, 1.0, -1.0)
    s = torch.sigmoid(sign * 0.1 * (logratio - kl))
    return (1 - s) / n, -sign * 0.1 * s * (1 - s) / n


TRUTH = "broken"
