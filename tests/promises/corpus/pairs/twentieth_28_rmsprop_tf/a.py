"""Training steps with torch's RMSprop with momentum, on a small convolutional classifier."""
import torch
from torch import nn
from torch.nn import functional as F

RATE, DECAY, MOMENTUM, EPSILON = 0.01, 0.9, 0.9, 1e-3


def network():
    torch.manual_seed(2)
    return nn.Sequential(nn.Conv1d(3, 4, 3, padding=1), nn.SiLU(), nn.Flatten(), nn.Linear(4 * 6, 5))


class ByTorch:
    def __init__(self):
        self.model = network()
        self.optimizer = torch.optim.RMSprop(
            self.model.parameters(), lr=RATE, alpha=DECAY, eps=EPSILON, momentum=MOMENTUM
        )

    def __call__(self, x, labels):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    return torch.randn(4, 3, 6), torch.randint(0, 5, (4,))
