import torch
from torch import nn


class Left(nn.Module):
    """StandardScaler and LogisticRegression, as fitted."""

    def __init__(self, features=7, classes=4):
        super().__init__()
        self.register_buffer("mean_", torch.randn(features))
        self.register_buffer("scale_", torch.rand(features) + 0.5)
        self.coef_ = nn.Parameter(torch.randn(classes, features))
        self.intercept_ = nn.Parameter(torch.randn(classes))

    def forward(self, x):
        x = (x - self.mean_) / self.scale_
        logits = x @ self.coef_.T + self.intercept_
        return torch.softmax(logits, dim=1)


def inputs():
    return (torch.randn(5, 7),)
