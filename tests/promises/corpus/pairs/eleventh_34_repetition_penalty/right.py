import torch


def penalise(prompt, logits, penalty=1.3):
    vocab = torch.arange(logits.shape[-1], device=logits.device)
    seen = (prompt[:, :, None] == vocab).any(dim=1)
    factor = torch.where(logits > 0, 1 / penalty, penalty)
    return logits * torch.where(seen, factor, 1.0)


def inputs():
    return torch.tensor([[3, 1, 3, 7, 0], [2, 2, 8, 5, 10]]), torch.randn(2, 11)
