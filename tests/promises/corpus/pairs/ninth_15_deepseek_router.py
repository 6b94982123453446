# DIFFERENT
import torch

N_GROUP, TOPK_GROUP, TOP_K, SCALING = 4, 2, 3, 2.5


def left(hidden, weight, correction_bias):
    scores = (hidden @ weight.t()).sigmoid()
    choice = scores + correction_bias
    n = hidden.shape[0]
    group_scores = choice.view(n, N_GROUP, -1).topk(2, dim=-1)[0].sum(dim=-1)
    group_idx = torch.topk(group_scores, k=TOPK_GROUP, dim=-1, sorted=False)[1]
    group_mask = torch.zeros_like(group_scores).scatter_(1, group_idx, 1)
    score_mask = group_mask.unsqueeze(-1).expand(n, N_GROUP, weight.shape[0] // N_GROUP).reshape(n, -1)
    masked = choice.masked_fill(~score_mask.bool(), float("-inf"))
    topk = torch.topk(masked, k=TOP_K, dim=-1)[1]
    w = scores.gather(1, topk)
    w = w / (w.sum(dim=-1, keepdim=True) + 1e-20) * SCALING
    return torch.zeros_like(scores).scatter(1, topk, w)


def right(hidden, weight, correction_bias):
    scores = torch.sigmoid(torch.einsum("nd,ed->ne", hidden, weight))
    biased = scores + correction_bias
    grouped = biased.unflatten(-1, (N_GROUP, -1))
    best_groups = grouped.topk(2, -1).values.sum(-1).topk(TOPK_GROUP, -1).indices
    open_ = torch.zeros(grouped.shape[:2], dtype=torch.bool).scatter(1, best_groups, True)
    biased = grouped.masked_fill(~open_[..., None], -torch.inf).flatten(1)
    top_w, top_e = biased.topk(TOP_K, dim=-1)
    top_w = SCALING * top_w / (top_w.sum(-1, True) + 1e-20)
    return torch.zeros_like(scores).scatter_(1, top_e, top_w)


def inputs():
    torch.manual_seed(671)
    return torch.randn(5, 6), torch.randn(8, 6), 0.2 * torch.randn(8)
