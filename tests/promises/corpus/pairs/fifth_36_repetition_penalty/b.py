import torch


def program(scores, input_ids):
    """As in vLLM: a mask of what was seen over the vocabulary, and a sort for the k-th largest."""
    vocab = scores.shape[-1]
    seen = (input_ids[:, :, None] == torch.arange(vocab)).any(dim=1)
    factor = torch.where(seen, 1.3, 1.0)
    scores = torch.where(scores > 0, scores / factor, scores * factor)
    scores = scores * 1.25
    smallest_kept = scores.sort(dim=-1)[0][:, vocab - 4 : vocab - 3]
    weights = torch.where(scores < smallest_kept, 0.0, torch.exp(scores))
    return weights / weights.sum(dim=-1, keepdim=True)
