# broken: the mean log-probability of a sequence is taken over T and not over the tokens that count
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def mean_logp(logp_ptr, mask_ptr, row, T, BLOCK: tl.constexpr):
    t = tl.arange(0, BLOCK)
    inside = t < T
    logp = tl.load(logp_ptr + row * T + t, mask=inside, other=0.0)
    keep = tl.load(mask_ptr + row * T + t, mask=inside, other=0.0)
    return tl.sum(logp * keep, axis=0) / T


@triton.jit
def simpo_kernel(c_ptr, cm_ptr, r_ptr, rm_ptr, loss_ptr, T, beta, gamma, BLOCK: tl.constexpr):
    pair = tl.program_id(0)
    chosen = mean_logp(c_ptr, cm_ptr, pair, T, BLOCK)
    rejected = mean_logp(r_ptr, rm_ptr, pair, T, BLOCK)
    z = beta * (chosen - rejected) - gamma
    tl.store(loss_ptr + pair, tl.log(1.0 + tl.exp(-z)))


def launch(B=4, T=20):
    chosen = -torch.rand(B, T, device="cuda")
    rejected = -torch.rand(B, T, device="cuda")
    chosen_mask = torch.rand(B, T, device="cuda").round()
    rejected_mask = torch.rand(B, T, device="cuda").round()
    loss = torch.empty(B, device="cuda")
    simpo_kernel[(B,)](chosen, chosen_mask, rejected, rejected_mask, loss, T, 2.0, 0.5,
                       BLOCK=triton.next_power_of_2(T))
    return loss


def reference(chosen, chosen_mask, rejected, rejected_mask):
    c = (chosen * chosen_mask).sum(-1) / chosen_mask.sum(-1)
    r = (rejected * rejected_mask).sum(-1) / rejected_mask.sum(-1)
    return -F.logsigmoid(2.0 * (c - r) - 0.5)


TRUTH = "broken"
