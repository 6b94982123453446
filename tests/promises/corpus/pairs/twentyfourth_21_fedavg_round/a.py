"""One round of federated averaging: every client copies the global model and takes local steps; the server averages."""
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Client:
    def __init__(self, x, y, lr=0.1, epochs=2):
        self.x, self.y, self.lr, self.epochs = x, y, lr, epochs

    def fit(self, global_model):
        model = copy.deepcopy(global_model)
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr)
        for _ in range(self.epochs):
            optimizer.zero_grad()
            loss = F.mse_loss(model(self.x), self.y)
            loss.backward()
            optimizer.step()
        return model.state_dict(), loss.detach()


class Server:
    def __init__(self, samples=(30, 10, 20)):
        self.model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
        self.samples = samples

    def aggregate(self, states):
        total = sum(self.samples)
        averaged = {}
        for key in states[0]:
            averaged[key] = sum(state[key] * (n / total) for state, n in zip(states, self.samples))
        return averaged

    def __call__(self, xs, ys):
        results = [Client(x, y).fit(self.model) for x, y in zip(xs, ys)]
        self.model.load_state_dict(self.aggregate([state for state, _ in results]))
        return torch.stack([loss for _, loss in results])


def inputs():
    return torch.randn(3, 6, 4), torch.randn(3, 6, 2)
