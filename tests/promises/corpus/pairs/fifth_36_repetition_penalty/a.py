import torch


def program(scores, input_ids):
    """Logit processors as in Transformers: repetition penalty, temperature, top-k, then log-probabilities."""
    penalty, temperature, top_k = 1.3, 0.8, 4
    score = torch.gather(scores, 1, input_ids)
    score = torch.where(score < 0, score * penalty, score / penalty)
    scores = scores.scatter(1, input_ids, score)
    scores = scores / temperature
    remove = scores < torch.topk(scores, top_k)[0][..., -1, None]
    scores = scores.masked_fill(remove, -float("inf"))
    return torch.softmax(scores, dim=-1)
