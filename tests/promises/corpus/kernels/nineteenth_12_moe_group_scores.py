"""DeepSeek-V3's group-limited routing, first half: biased sigmoid scores and, for each group of experts, the sum of its two best."""
import torch
import triton
import triton.language as tl


@triton.jit
def group_scores_kernel(logits, bias, biased, group_scores, n_tokens,
                        N_GROUPS: tl.constexpr, PER_GROUP: tl.constexpr):
    token = tl.program_id(0)
    g = tl.arange(0, N_GROUPS)[:, None]
    e = tl.arange(0, PER_GROUP)[None, :]
    expert = g * PER_GROUP + e
    base = token * N_GROUPS * PER_GROUP

    x = tl.load(logits + base + expert).to(tl.float32)
    s = 1.0 / (1.0 + tl.exp(-x)) + tl.load(bias + expert)
    tl.store(biased + base + expert, s)

    first = tl.max(s, axis=1)
    where = tl.argmax(s, axis=1)
    second = tl.max(tl.where(e == where[:, None], float("-inf"), s), axis=1)
    tl.store(group_scores + token * N_GROUPS + tl.arange(0, N_GROUPS), first + second)


def launch(tokens=6):
    logits = torch.randn(tokens, 32, device="cuda")
    bias = torch.randn(32, device="cuda")
    biased = torch.empty_like(logits)
    group_scores = torch.empty(tokens, 4, device="cuda")
    group_scores_kernel[(tokens,)](logits, bias, biased, group_scores, tokens, N_GROUPS=4, PER_GROUP=8)
    return biased, group_scores


def reference(logits, bias):
    scores_for_choice = logits.sigmoid() + bias.unsqueeze(0)
    grouped = scores_for_choice.view(logits.shape[0], 4, 8)
    return scores_for_choice, grouped.topk(2, dim=-1)[0].sum(dim=-1)

TRUTH = "verified"
