"""Mixtures of experts: every expert computed for every token and masked, or each token's experts gathered.

Both sides call topk on the same router logits; no shape depends on the routing. `up` is [experts, hidden, inner] and
`down` [experts, inner, hidden].
"""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, twins, vary

EXPERTS, CHOSEN = 5, 2


def route(x, router):
    """The chosen experts of each token and their weights, which sum to one."""
    scores, chosen = torch.topk(x @ router, CHOSEN, dim=-1)
    return scores.softmax(-1), chosen


def route_over_all(x, router):
    """Weights of a softmax over all experts, divided by the sum of those chosen, as Mixtral does."""
    scores, chosen = torch.topk((x @ router).softmax(-1), CHOSEN, dim=-1)
    return scores / scores.sum(-1, keepdim=True), chosen


def dense(x, router, up, down, route=route):
    """Every expert for every token, times its weight or zero."""
    weights, chosen = route(x, router)
    out = torch.zeros_like(x)
    for expert in range(EXPERTS):
        share = (weights * (chosen == expert)).sum(-1, keepdim=True)
        out = out + share * (F.silu(x @ up[expert]) @ down[expert])
    return out


def gathered(x, router, up, down, route=route):
    """Each token's own matrices, one choice after the other."""
    weights, chosen = route(x, router)
    out = torch.zeros_like(x)
    for choice in range(CHOSEN):
        expert = chosen[:, choice]
        inner = F.silu(torch.bmm(x.unsqueeze(1), up[expert]))
        out = out + weights[:, choice, None] * torch.bmm(inner, down[expert]).squeeze(1)
    return out


def gathered_at_once(x, router, up, down, factor=1):
    """Token and choice in one axis, as Transformers' batched experts do."""
    weights, chosen = route(x, router)
    tokens, flat = x.repeat_interleave(CHOSEN, dim=0), chosen.flatten()
    inner = F.silu(torch.bmm(tokens.unsqueeze(1), up[flat]))
    outs = torch.bmm(inner, down[flat]).squeeze(1) * weights.flatten()[:, None]
    return outs.view(-1, CHOSEN, x.shape[-1]).sum(1) * factor


def gathered_tiled(x, router, up, down):
    weights, chosen = route(x, router)
    tokens, flat = x.repeat(CHOSEN, 1), chosen.flatten()
    inner = F.silu(torch.bmm(tokens.unsqueeze(1), up[flat]))
    outs = torch.bmm(inner, down[flat]).squeeze(1) * weights.flatten()[:, None]
    return outs.view(-1, CHOSEN, x.shape[-1]).sum(1)


def dense_by_one_hot(x, router, up, down):
    weights, chosen = route(x, router)
    shares = (F.one_hot(chosen, EXPERTS) * weights[..., None]).sum(1)
    every = torch.einsum("tei,eih->teh", F.silu(torch.einsum("th,ehi->tei", x, up)), down)
    return torch.einsum("te,teh->th", shares, every)


def unweighted(x, router):
    _, chosen = route(x, router)
    return torch.ones(chosen.shape, dtype=x.dtype), chosen


def weights_swapped(x, router):
    weights, chosen = route(x, router)
    return weights.flip(-1), chosen


def not_renormalised(x, router):
    return torch.topk((x @ router).softmax(-1), CHOSEN, dim=-1)


def first_choice_only(x, router, up, down):
    weights, chosen = route(x, router)
    expert = chosen[:, 0]
    return weights[:, :1] * torch.bmm(F.silu(torch.bmm(x.unsqueeze(1), up[expert])), down[expert]).squeeze(1)


def activated_after_weight(x, router, up, down):
    """The weight applied to the expert's input instead of its output."""
    weights, chosen = route(x, router)
    tokens, flat = x.repeat_interleave(CHOSEN, dim=0) * weights.flatten()[:, None], chosen.flatten()
    inner = F.silu(torch.bmm(tokens.unsqueeze(1), up[flat]))
    return torch.bmm(inner, down[flat]).squeeze(1).view(-1, CHOSEN, x.shape[-1]).sum(1)


MIXTURE = inputs((7, 11), (11, EXPERTS), (EXPERTS, 11, 13), (EXPERTS, 13, 11), scale=0.5)

PAIRS = [
    Pair("experts masked and gathered", 23, dense, gathered, MIXTURE,
         twins(weights_dropped=vary(gathered, route=unweighted), weights_swapped=vary(gathered, route=weights_swapped),
               first_choice_only=first_choice_only)),
    Pair("experts masked and gathered at once", 23, dense, gathered_at_once, MIXTURE,
         twins(wrong_repetition_order=gathered_tiled, scale_off=vary(gathered_at_once, factor=CHOSEN),
               weight_before_the_expert=activated_after_weight)),
    Pair("experts by one-hot and gathered", 23, dense_by_one_hot, gathered, MIXTURE,
         twins(first_choice_only=first_choice_only)),
    Pair("experts with Mixtral's weights", 23, vary(dense, route=route_over_all), vary(gathered, route=route_over_all),
         MIXTURE, twins(not_renormalised=vary(gathered, route=not_renormalised))),
]
