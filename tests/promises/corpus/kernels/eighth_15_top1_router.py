# broken: padded experts are loaded as 0.0 and not as -inf, so where all logits are negative a padded expert wins
import torch
import triton
import triton.language as tl


@triton.jit
def top1_kernel(logits_ptr, expert_ptr, prob_ptr, E, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    e = tl.arange(0, BLOCK)
    mask = e < E
    x = tl.load(logits_ptr + token * E + e, mask=mask, other=0.0)
    best = tl.argmax(x, axis=0)
    p = tl.where(mask, tl.exp(x - tl.max(x, axis=0)), 0.0)
    tl.store(expert_ptr + token, best)
    tl.store(prob_ptr + token, tl.max(p, axis=0) / tl.sum(p, axis=0))


def launch(T=24, E=3):
    logits = torch.randn(T, E, device="cuda")
    expert = torch.empty(T, dtype=torch.int32, device="cuda")
    prob = torch.empty(T, device="cuda")
    top1_kernel[(T,)](logits, expert, prob, E, BLOCK=triton.next_power_of_2(E))
    return expert, prob


def reference(logits):
    probs = torch.softmax(logits, dim=-1)
    return logits.argmax(dim=-1).to(torch.int32), probs.amax(dim=-1)


TRUTH = "broken"
