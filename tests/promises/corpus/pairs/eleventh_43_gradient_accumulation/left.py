import torch
from torch import nn
from torch.nn import functional as F


class LanguageModel(nn.Module):
    def __init__(self, vocab=11, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.norm = nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 16), nn.Linear(16, dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        mean = x.cumsum(1) / torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]
        x = x + self.down(F.gelu(self.up(self.norm(mean))))
        return self.head(x)


def causal_loss(logits, labels):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


class Left:
    def __init__(self):
        torch.manual_seed(0)
        self.model = LanguageModel()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def __call__(self, ids, labels):
        self.optimizer.zero_grad()
        loss = causal_loss(self.model(ids), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    ids = torch.tensor([[1, 4, 2, 9, 3, 7], [5, 6, 10, 2, 0, 0], [8, 3, 0, 0, 0, 0], [2, 7, 1, 0, 0, 0]])
    return ids, torch.where(ids == 0, -100, ids)
