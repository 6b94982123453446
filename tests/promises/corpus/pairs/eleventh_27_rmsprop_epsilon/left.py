import torch
from torch import nn
from torch.nn import functional as F


class Left:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Linear(6, 3)
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=0.01, alpha=0.9, eps=1e-3)

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    return torch.randn(5, 6), torch.randn(5, 3)
