"""Fine-tuning with torch's AdamW: a small regressor, one step per call."""

import torch
from torch import nn
from torch.nn import functional as F


def make_model():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


class TorchTrainer:
    def __init__(self):
        self.model = make_model()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01
        )

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.smooth_l1_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    return torch.randn(5, 6), torch.randn(5, 3)
