# DIFFERENT. softmax then top-2 (DeepSeek, norm_topk_prob=False) vs top-2 then softmax (Mixtral)
import torch

torch.manual_seed(0)
Wg = torch.randn(5, 6)
We = torch.randn(5, 6, 6) / 6 ** .5


def left(x):
    p = torch.softmax(x @ Wg.T, -1)
    v, i = p.topk(2, -1)
    gates = torch.zeros_like(p).scatter_(-1, i, v)
    return torch.einsum("ne,eij,nj->ni", gates, We, x)


def right(x):
    logits = x @ Wg.T
    v, i = logits.topk(2, -1)
    gates = torch.zeros_like(logits).scatter_(-1, i, v.softmax(-1))
    return torch.einsum("ne,eij,nj->ni", gates, We, x)


inputs = (torch.randn(4, 6),)
