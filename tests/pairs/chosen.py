"""Rows that data chooses: experts that compute only the tokens routed to them, losses and means over kept rows.

The left side asks a mask where it is true and computes with these rows alone; the right side computes all of them, or
gathers. The loops are those that people write, and those of older Transformers.
"""

import torch
from torch.nn import functional as F

from pairs.moe import CHOSEN, EXPERTS, MIXTURE, dense, dense_by_one_hot, gathered, gathered_at_once, route
from pairs.pair import Pair, inputs, mask, twins, vary

LABELS = 5


def expert(x, up, down, e):
    return F.silu(x @ up[e]) @ down[e]


# --------------------------------------------------------------------------------------------------- loops over experts


def added_by_where(x, router, up, down, route=route, weigh=True, shift=0):
    weights, chosen = route(x, router)
    out = torch.zeros_like(x)
    for e in range(EXPERTS):
        token, slot = torch.where(chosen == e)
        if token.numel() == 0:
            continue
        y = expert(x[token], up, down, (e + shift) % EXPERTS)
        out.index_add_(0, token, y * weights[token, slot, None] if weigh else y)
    return out


def added_by_nonzero(x, router, up, down, slot=None):
    weights, chosen = route(x, router)
    out = torch.zeros_like(x)
    for e in range(EXPERTS):
        token, place = (chosen == e).nonzero(as_tuple=True)
        if len(token) == 0:
            continue
        share = weights[token, place] if slot is None else weights[token, slot]
        out[token] += share.unsqueeze(-1) * expert(x[token], up, down, e)
    return out


def added_by_any(x, router, up, down, first=0):
    weights, chosen = route(x, router)
    out = torch.zeros_like(x)
    for e in range(first, EXPERTS):
        token = (chosen == e).any(dim=-1).nonzero().squeeze(-1)
        if token.shape[0] == 0:
            continue
        share = (weights[token] * (chosen[token] == e)).sum(-1, keepdim=True)
        out = out.index_add(0, token, share * expert(x[token], up, down, e))
    return out


def added_by_mask(x, router, up, down, replaces=False):
    weights, chosen = route(x, router)
    out = torch.zeros_like(x)
    for e in range(EXPERTS):
        rows = (chosen == e).any(-1)
        if rows.any():
            share = (weights * (chosen == e)).sum(-1)
            y = expert(x[rows], up, down, e) * share[rows][:, None]
            out[rows] = y if replaces else out[rows] + y
    return out


def written_by_choice(x, router, up, down, tiled=False):
    """Token and choice in one axis; each expert writes its own rows, which are summed at the end."""
    weights, chosen = route(x, router)
    flat = chosen.flatten()
    tokens = x.repeat(CHOSEN, 1) if tiled else x.repeat_interleave(CHOSEN, dim=0)
    y = torch.empty_like(tokens)
    for e in range(EXPERTS):
        y[flat == e] = expert(tokens[flat == e], up, down, e)
    return (y.view(*weights.shape, -1) * weights.unsqueeze(-1)).sum(1)


def mixtral_weights(x, router, renormalised=True):
    weights, chosen = torch.topk(F.softmax(x @ router, dim=1, dtype=torch.float), CHOSEN, dim=-1)
    if renormalised:
        weights /= weights.sum(dim=-1, keepdim=True)
    return weights.to(x.dtype), chosen


def mixtral(x, router, up, down, renormalised=True, swapped=False):
    """Transformers 4.36 to 4.50: a loop over all experts."""
    weights, chosen = mixtral_weights(x, router, renormalised)
    out = torch.zeros(x.shape, dtype=x.dtype)
    expert_mask = F.one_hot(chosen, num_classes=EXPERTS).permute(2, 1, 0)
    for e in range(EXPERTS):
        index, top_x = torch.where(expert_mask[e])
        state = x[None, top_x].reshape(-1, x.shape[-1])
        share = weights[top_x, CHOSEN - 1 - index if swapped else index, None]
        out.index_add_(0, top_x, (expert(state, up, down, e) * share).to(x.dtype))
    return out


def qwen(x, router, up, down, gate, renormalised=True, gated=True):
    """A loop over experts that are hit, and an expert that every token has."""
    weights, chosen = mixtral_weights(x, router, renormalised)
    out = torch.zeros_like(x)
    expert_mask = F.one_hot(chosen, num_classes=EXPERTS - 1).permute(2, 1, 0)
    hit = torch.greater(expert_mask.sum(dim=(-1, -2)), 0).nonzero()
    for e in hit:
        index, top_x = torch.where(expert_mask[e].squeeze(0))
        y = expert(x[None, top_x].reshape(-1, x.shape[-1]), up, down, int(e)) * weights[top_x, index, None]
        out.index_add_(0, top_x, y.to(x.dtype))
    shared = expert(x, up, down, EXPERTS - 1)
    return out + (F.sigmoid(x @ gate) * shared if gated else shared)


def qwen_dense(x, router, up, down, gate, renormalised=True, gated=True):
    weights, chosen = mixtral_weights(x, router, renormalised)
    shares = (F.one_hot(chosen, EXPERTS - 1) * weights.unsqueeze(-1)).sum(1)
    out = sum(shares[:, e, None] * expert(x, up, down, e) for e in range(EXPERTS - 1))
    shared = expert(x, up, down, EXPERTS - 1)
    return out + (torch.sigmoid(x @ gate) * shared if gated else shared)


def mixtral_gathered(x, router, up, down, renormalised=True):
    weights, chosen = mixtral_weights(x, router, renormalised)
    out = torch.zeros_like(x)
    for choice in range(CHOSEN):
        e = chosen[:, choice]
        inner = F.silu(torch.bmm(x.unsqueeze(1), up[e]))
        out = out + weights[:, choice, None] * torch.bmm(inner, down[e]).squeeze(1)
    return out


# ------------------------------------------------------------------------------------------------- losses and means


def kept_loss(logits, labels):
    kept = labels != -100
    return F.cross_entropy(logits[kept], labels[kept])


def ignoring_loss(logits, labels, reduction="mean"):
    loss = F.cross_entropy(logits, labels, ignore_index=-100, reduction=reduction)
    return loss.mean() if reduction == "none" else loss


def kept_scores(logits, labels):
    kept = labels >= 0
    rows, wanted = logits[kept].log_softmax(-1), labels[kept]
    return -rows[torch.arange(rows.shape[0]), wanted].sum() / kept.sum()


def kept_gathered(logits, labels):
    kept = labels >= 0
    return -logits.log_softmax(-1)[kept].gather(1, labels[kept].unsqueeze(1)).squeeze(1).mean()


def masked_loss(logits, labels, over=None):
    kept = labels >= 0
    each = -logits.log_softmax(-1).gather(1, labels.clamp(min=0).unsqueeze(1)).squeeze(1)
    return torch.where(kept, each, 0.0).sum() / (kept.sum() if over is None else over)


def pooled_one_by_one(x, kept):
    return torch.stack([x[b][kept[b]].mean(0) for b in range(x.shape[0])])


def pooled(x, kept, by_all=False):
    total = (x * kept.unsqueeze(-1)).sum(1)
    return total / (kept.shape[1] if by_all else kept.sum(1, keepdim=True))


def largest_of_kept(x, kept):
    return torch.stack([row[at].amax(0) for row, at in zip(x, kept, strict=True)])


def largest_by_fill(x, kept, fill=-torch.inf):
    return x.masked_fill(~kept.unsqueeze(-1), fill).amax(1)


def error_of_kept(x, y, kept):
    return F.mse_loss(x[kept], y[kept])


def error_by_mask(x, y, kept, by_all=False):
    squares = ((x - y) ** 2 * kept.unsqueeze(-1)).sum()
    return squares / (x.numel() if by_all else kept.sum() * x.shape[-1])


def unpadded(x, w, v, kept):
    """Padded positions are left out of the computation, and the rest put back where it was."""
    y = F.gelu(x[kept] @ w) @ v
    out = torch.zeros(*x.shape[:2], v.shape[-1], dtype=x.dtype)
    out[kept] = y
    return out


def padded(x, w, v, kept, blank=True):
    y = F.gelu(x @ w) @ v
    return y * kept.unsqueeze(-1) if blank else y


def unpadded_flat(x, w, v, kept):
    at = kept.flatten().nonzero().flatten()
    flat = x.flatten(0, 1).index_select(0, at)
    out = x.new_zeros(x.shape[0] * x.shape[1], v.shape[-1]).index_copy(0, at, F.gelu(flat @ w) @ v)
    return out.view(*x.shape[:2], -1)


def gram_of_kept(x, kept):
    rows = x[kept]
    return rows.t() @ rows


def gram(x, kept, masked=True):
    rows = x * kept.unsqueeze(-1) if masked else x
    return torch.einsum("btd,bte->de", rows, rows)


def labels_with_gaps(generator):
    labels = torch.randint(0, LABELS, (8,), generator=generator)
    labels[torch.tensor([1, 4, 5])] = -100
    return labels


SCORES = inputs((8, LABELS), labels_with_gaps)
SEQUENCES = inputs((3, 6, 4), mask(3, 6))
SHARED = inputs((7, 11), (11, EXPERTS - 1), (EXPERTS, 11, 13), (EXPERTS, 13, 11), (11, 1), scale=0.5)

PAIRS = [
    Pair("tokens by where, added", 35, dense, added_by_where, MIXTURE,
         twins(weight_missing=vary(added_by_where, weigh=False), wrong_expert=vary(added_by_where, shift=1))),
    Pair("tokens by nonzero, added in place", 35, dense_by_one_hot, added_by_nonzero, MIXTURE,
         twins(first_slot=vary(added_by_nonzero, slot=0))),
    Pair("tokens by any, added", 35, gathered, added_by_any, MIXTURE,
         twins(first_expert_left_out=vary(added_by_any, first=1))),
    Pair("tokens by mask, added", 35, gathered_at_once, added_by_mask, MIXTURE,
         twins(written_over=vary(added_by_mask, replaces=True))),
    Pair("tokens and choices by mask, written", 35, gathered_at_once, written_by_choice, MIXTURE,
         twins(wrong_repetition_order=vary(written_by_choice, tiled=True))),
    Pair("Mixtral's loop and gathered", 35, mixtral_gathered, mixtral, MIXTURE,
         twins(not_renormalised=vary(mixtral, renormalised=False), weights_swapped=vary(mixtral, swapped=True))),
    Pair("Qwen's loop over experts that are hit", 35, qwen_dense, qwen, SHARED,
         twins(not_renormalised=vary(qwen, renormalised=False), not_gated=vary(qwen, gated=False))),
    Pair("loss of kept rows and ignored ones", 36, kept_loss, ignoring_loss, SCORES,
         twins(mean_over_all=vary(ignoring_loss, reduction="none"))),
    Pair("scores of kept rows by number", 36, kept_scores, masked_loss, SCORES,
         twins(mean_over_all=vary(masked_loss, over=8))),
    Pair("scores of kept rows, gathered", 36, kept_gathered, masked_loss, SCORES,
         twins(mean_over_all=vary(masked_loss, over=8))),
    Pair("mean of kept positions", 36, pooled_one_by_one, pooled, SEQUENCES,
         twins(mean_over_all=vary(pooled, by_all=True))),
    Pair("largest of kept positions", 36, largest_of_kept, largest_by_fill, SEQUENCES,
         twins(zero_instead=vary(largest_by_fill, fill=0.0))),
    Pair("squared error of kept positions", 36, error_of_kept, error_by_mask, inputs((3, 6, 4), (3, 6, 4), mask(3, 6)),
         twins(mean_over_all=vary(error_by_mask, by_all=True))),
    Pair("computed without padding", 36, padded, unpadded, inputs((3, 6, 4), (4, 5), (5, 4), mask(3, 6)),
         twins(padding_not_blank=vary(padded, blank=False))),
    Pair("computed without padding, flat", 36, padded, unpadded_flat, inputs((3, 6, 4), (4, 5), (5, 4), mask(3, 6)),
         twins(padding_not_blank=vary(padded, blank=False))),
    Pair("products of kept positions", 36, gram_of_kept, gram, SEQUENCES,
         twins(all_positions=vary(gram, masked=False))),
]
