import torch


def ndcg(scores, relevance, k=4):
    order = scores.argsort(dim=-1, descending=True)[:, :k]
    hits = torch.take_along_dim(relevance, order, dim=1)
    ideal = hits.sort(dim=-1, descending=True)[0]
    log_rank = torch.log2(torch.arange(2, k + 2, dtype=scores.dtype))
    dcg = ((2.0**hits - 1) / log_rank).sum(1)
    idcg = ((2.0**ideal - 1) / log_rank).sum(1)
    return torch.mean(dcg / torch.clamp(idcg, min=1e-8))


def inputs():
    return torch.randn(3, 9), torch.tensor([[0, 3, 1, 0, 2, 0, 4, 1, 0], [1, 0, 0, 2, 2, 3, 0, 0, 1], [4, 0, 1, 1, 0, 3, 2, 0, 0]])
