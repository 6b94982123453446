import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, features=7, classes=4):
        super().__init__()
        fitted = Left(features, classes)
        self.linear = nn.Linear(features, classes)
        with torch.no_grad():
            weight = fitted.coef_ / fitted.scale_
            self.linear.weight.copy_(weight)
            self.linear.bias.copy_(fitted.intercept_ - weight @ fitted.mean_)

    def forward(self, x):
        return F.softmax(self.linear(x), dim=-1)


def inputs():
    return (torch.randn(5, 7),)
