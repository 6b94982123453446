"""Simulated federated averaging: all clients at once by vmap, and the server steps along the mean update (FedOpt form)."""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap


class Simulation:
    def __init__(self, samples=(30, 10, 20), lr=0.1, local_steps=2, server_lr=1.0):
        self.model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
        counts = torch.tensor(samples, dtype=torch.get_default_dtype())
        self.shares = counts / counts.sum()
        self.lr, self.local_steps, self.server_lr = lr, local_steps, server_lr

    def loss(self, params, x, y):
        return (functional_call(self.model, params, (x,)) - y).square().mean()

    def local(self, params, x, y):
        for _ in range(self.local_steps):
            grads, value = grad_and_value(self.loss)(params, x, y)
            params = {name: p - self.lr * grads[name] for name, p in params.items()}
        return params, value

    def __call__(self, xs, ys):
        start = {name: p.detach() for name, p in self.model.named_parameters()}
        finished, losses = vmap(self.local, in_dims=(None, 0, 0))(start, xs, ys)
        with torch.no_grad():
            for name, p in self.model.named_parameters():
                pseudo_gradient = torch.tensordot(self.shares, p - finished[name], dims=1)
                p.sub_(self.server_lr * pseudo_gradient)
        return losses
