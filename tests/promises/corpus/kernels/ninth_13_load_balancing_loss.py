"""Switch-style load balancing loss of a top-k router: E * sum_e f_e * P_e."""
import torch
import triton
import triton.language as tl


@triton.jit
def router_stats_kernel(
    logits_ptr, topk_ids_ptr, prob_sum_ptr, count_ptr,
    T, E, K: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr,
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    e = tl.arange(0, BLOCK_E)
    t_mask = t < T
    e_mask = e < E
    mask = t_mask[:, None] & e_mask[None, :]

    x = tl.load(logits_ptr + t[:, None] * E + e[None, :], mask=mask, other=float("-inf"))
    x = tl.where(t_mask[:, None], x, 0.0)
    x = x - tl.max(x, axis=1)[:, None]
    num = tl.exp(x)
    probs = num / tl.sum(num, axis=1)[:, None]
    probs = tl.where(mask, probs, 0.0)
    tl.atomic_add(prob_sum_ptr + e, tl.sum(probs, axis=0), mask=e_mask)

    counts = tl.zeros([BLOCK_E], dtype=tl.float32)
    for k in tl.static_range(K):
        ids = tl.load(topk_ids_ptr + t * K + k, mask=t_mask, other=-1)
        hit = ids[:, None] == e[None, :]
        counts += tl.sum(hit.to(tl.float32), axis=0)
    tl.atomic_add(count_ptr + e, counts, mask=e_mask)


@triton.jit
def aux_loss_kernel(prob_sum_ptr, count_ptr, loss_ptr, T, E, BLOCK_E: tl.constexpr):
    e = tl.arange(0, BLOCK_E)
    mask = e < E
    p = tl.load(prob_sum_ptr + e, mask=mask, other=0.0) / T
    f = tl.load(count_ptr + e, mask=mask, other=0.0) / T
    tl.store(loss_ptr, E * tl.sum(p * f, axis=0))


def launch(T=45, E=11):
    logits = torch.randn(T, E, device="cuda")
    topk_ids = torch.randint(0, E, (T, 2), device="cuda")
    prob_sum = torch.zeros(E, device="cuda")
    count = torch.zeros(E, device="cuda")
    loss = torch.empty((), device="cuda")
    BLOCK_E = triton.next_power_of_2(E)
    router_stats_kernel[(triton.cdiv(T, 16),)](
        logits, topk_ids, prob_sum, count, T, E, K=2, BLOCK_T=16, BLOCK_E=BLOCK_E
    )
    aux_loss_kernel[(1,)](prob_sum, count, loss, T, E, BLOCK_E=BLOCK_E)
    return loss


def reference(logits, topk_ids):
    T, E = logits.shape
    probs = torch.softmax(logits, dim=-1).mean(0)
    chosen = (topk_ids[:, :, None] == torch.arange(E, device=topk_ids.device)).float()
    fraction = chosen.mean(dim=(0, 1))      # of the T * K assignments
    return E * (probs * fraction).sum()


TRUTH = "broken"
# WHY: the counts of T * K assignments are divided by T, not by T * K: the loss is K = 2 times too large.
