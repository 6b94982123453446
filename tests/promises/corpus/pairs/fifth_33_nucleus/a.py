import torch


def program(logits):
    """Probabilities after top-p filtering; the token that crosses p is kept."""
    top_p, temperature = 0.8, 0.7
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True, dim=-1)
    cumulative = torch.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
    remove = cumulative > top_p
    remove = torch.cat([torch.zeros_like(remove[..., :1]), remove[..., :-1]], dim=-1)
    remove = torch.zeros_like(remove).scatter(-1, sorted_indices, remove)
    return torch.softmax(logits.masked_fill(remove, float("-inf")), dim=-1)
