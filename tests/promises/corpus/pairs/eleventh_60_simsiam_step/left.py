import torch
from torch import nn


class SimSiam(nn.Module):
    def __init__(self, dim=8, hidden=10, out=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, out))
        self.predictor = nn.Sequential(nn.Linear(out, 4), nn.ReLU(), nn.Linear(4, out))


def distance(p, z):
    z = z.detach()
    p = p / p.norm(dim=1, keepdim=True)
    z = z / z.norm(dim=1, keepdim=True)
    return -(p * z).sum(dim=1).mean()


class Left:
    def __init__(self):
        torch.manual_seed(0)
        self.model = SimSiam()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def __call__(self, x1, x2):
        z1, z2 = self.model.encoder(x1), self.model.encoder(x2)
        p1, p2 = self.model.predictor(z1), self.model.predictor(z2)
        loss = distance(p1, z2) / 2 + distance(p2, z1) / 2
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    x = torch.randn(4, 8)
    return x + 0.1 * torch.randn(4, 8), x + 0.1 * torch.randn(4, 8)
