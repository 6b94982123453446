# DIFFERENT.
"""Top-2 routing with expert capacity. DIFFERENT: left fills seats choice by choice (all first choices, then all second, as
GShard), right token by token; shows only when an expert overflows."""
import torch
import torch.nn.functional as F

CAP = 3


def route(x, router):
    p = (x @ router).softmax(-1)
    w, idx = p.topk(2, -1)
    return w / w.sum(-1, keepdim=True), F.one_hot(idx, router.shape[1])          # [T,2], [T,2,E]


def left(x, router, experts):
    w, hot = route(x, router)
    T, K, E = hot.shape
    flat = hot.transpose(0, 1).reshape(K * T, E)
    seat = (flat.cumsum(0) - 1).reshape(K, T, E).transpose(0, 1)
    keep = hot * (seat < CAP)
    gates = (w[..., None] * keep).sum(1)
    return torch.einsum("te,ted->td", gates, torch.einsum("td,edf->tef", x, experts))


def right(x, router, experts):
    w, hot = route(x, router)
    T, K, E = hot.shape
    seat = hot.reshape(T * K, E).cumsum(0).reshape(T, K, E) - 1
    keep = hot * (seat < CAP)
    gates = (w[..., None] * keep).sum(1)
    return torch.einsum("te,ted->td", gates, torch.einsum("td,edf->tef", x, experts))


inputs = (torch.randn(8, 5), torch.randn(5, 4), torch.randn(4, 5, 5))
