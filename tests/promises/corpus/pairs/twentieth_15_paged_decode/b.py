"""The same for the whole batch: slots of a flat cache; the new token's score is merged by its weight."""
import torch

BLOCK, KV, GROUP, SIZE = 4, 2, 2, 4


def batched(query, key, value, keys, values, tables, lengths):
    batch, pages = tables.shape
    slots = (tables[:, :, None] * BLOCK + torch.arange(BLOCK)).view(batch, pages * BLOCK)
    k = keys.flatten(0, 1)[slots]
    v = values.flatten(0, 1)[slots]
    q = query.view(batch, KV, GROUP, SIZE) / SIZE**0.5
    scores = torch.einsum("bkgd,bskd->bkgs", q, k)
    hidden = torch.arange(pages * BLOCK)[None] >= lengths[:, None]
    scores = scores.masked_fill(hidden[:, None, None], float("-inf"))
    own = (q * key[:, :, None]).sum(-1, keepdim=True)
    highest = torch.maximum(scores.amax(-1, keepdim=True), own)
    past, now = (scores - highest).exp(), (own - highest).exp()
    total = past.sum(-1, keepdim=True) + now
    out = torch.einsum("bkgs,bskd->bkgd", past, v) + now * value[:, :, None]
    return (out / total).reshape(batch, KV * GROUP, SIZE)
