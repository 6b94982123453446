"""The same with torch.autograd.grad and a loop over the tasks."""
import torch
from a import RATE, Regressor


class MetaByAutograd:
    def __init__(self):
        self.model = Regressor()

    def predict(self, weights, x):
        w1, b1, w2, b2 = weights
        return torch.tanh(x @ w1.T + b1) @ w2.T + b2

    def loss(self, weights, x, y):
        return (self.predict(weights, x) - y).square().mean()

    def adapted(self, weights, x, y):
        slopes = torch.autograd.grad(self.loss(weights, x, y), weights)
        return [w - RATE * slope for w, slope in zip(weights, slopes, strict=True)]

    def __call__(self, support_x, support_y, query_x, query_y):
        names, weights = zip(*self.model.named_parameters(), strict=True)
        losses = []
        for task in range(len(support_x)):
            fast = self.adapted(weights, support_x[task], support_y[task])
            losses.append(self.loss(fast, query_x[task], query_y[task]))
        total = torch.stack(losses).mean()
        return dict(zip(names, torch.autograd.grad(total, weights), strict=True))
