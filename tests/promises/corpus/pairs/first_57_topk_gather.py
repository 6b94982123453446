# EQUAL. top-k logits filter (kth value as threshold; no ties in general position: ties keep more on both sides), one-hot vs gather vs index_select
import torch
import torch.nn.functional as F

K = 3


def left(logits, table, ids):
    v, _ = torch.topk(logits, K)
    logits = logits.clone()
    logits[logits < v[:, [-1]]] = -float("Inf")          # nanoGPT's generate
    probs = F.softmax(logits, dim=-1)
    emb = F.one_hot(ids, table.shape[0]).to(table.dtype) @ table
    picked = torch.gather(probs, 1, ids)
    return probs, emb, picked


def right(logits, table, ids):
    kth = logits.sort(dim=-1, descending=True).values[:, K - 1:K]
    e = torch.where(logits >= kth, torch.exp(logits - logits.amax(-1, keepdim=True)), 0.0)
    probs = e / e.sum(-1, keepdim=True)
    emb = torch.index_select(table, 0, ids.reshape(-1)).view(*ids.shape, -1)
    picked = torch.einsum("bv,bkv->bk", probs, F.one_hot(ids, probs.shape[-1]).to(probs.dtype))
    return probs, emb, picked


torch.manual_seed(0)
inputs = (torch.randn(2, 7), torch.randn(7, 4), torch.randint(0, 7, (2, 3)))
