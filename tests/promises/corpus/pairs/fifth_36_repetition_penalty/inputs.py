import torch


def make(seed=0, batch=3, length=5, vocab=12):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(batch, vocab, generator=g), torch.randint(0, vocab, (batch, length), generator=g)


inputs = make()
