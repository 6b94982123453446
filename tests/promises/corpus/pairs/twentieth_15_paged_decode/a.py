"""One decoded token against a paged cache, sequence by sequence; grouped heads."""
import torch

BLOCK, KV, GROUP, SIZE = 4, 2, 2, 4


def one_by_one(query, key, value, keys, values, tables, lengths):
    """query [B, KV·GROUP, SIZE]; key, value [B, KV, SIZE] of the new token; keys, values
    [blocks, BLOCK, KV, SIZE]; tables [B, M]; lengths [B] without the new token."""
    outputs = []
    for b in range(query.shape[0]):
        k = keys[tables[b]].reshape(-1, KV, SIZE)
        v = values[tables[b]].reshape(-1, KV, SIZE)
        k = torch.cat((k, key[b : b + 1])).repeat_interleave(GROUP, dim=1)
        v = torch.cat((v, value[b : b + 1])).repeat_interleave(GROUP, dim=1)
        past = torch.arange(k.shape[0] - 1) < lengths[b]
        seen = torch.cat((past, torch.ones(1, dtype=torch.bool)))
        scores = torch.einsum("hd,shd->hs", query[b], k) * SIZE**-0.5
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        outputs.append(torch.einsum("hs,shd->hd", weights, v))
    return torch.stack(outputs)


def inputs():
    return (
        torch.randn(3, KV * GROUP, SIZE),
        torch.randn(3, KV, SIZE),
        torch.randn(3, KV, SIZE),
        torch.randn(7, BLOCK, KV, SIZE),
        torch.randn(7, BLOCK, KV, SIZE),
        torch.tensor([[0, 3], [5, 1], [6, 2]]),
        torch.tensor([5, 8, 2]),
    )
