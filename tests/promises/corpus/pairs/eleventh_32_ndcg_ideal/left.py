import torch


def ndcg(scores, relevance, k=4):
    discount = 1 / torch.log2(torch.arange(k, dtype=scores.dtype) + 2)
    top = scores.topk(k, dim=-1).indices
    gains = 2.0 ** relevance.gather(1, top) - 1
    ideal = 2.0 ** relevance.sort(dim=-1, descending=True).values[:, :k] - 1
    dcg, idcg = (gains * discount).sum(-1), (ideal * discount).sum(-1)
    return (dcg / idcg.clamp(min=1e-8)).mean()


def inputs():
    return torch.randn(3, 9), torch.tensor([[0, 3, 1, 0, 2, 0, 4, 1, 0], [1, 0, 0, 2, 2, 3, 0, 0, 1], [4, 0, 1, 1, 0, 3, 2, 0, 0]])
