"""The same by hand, after the TensorFlow kernel."""
import torch
from torch.nn import functional as F

from a import DECAY, EPSILON, MOMENTUM, RATE, network


class ByHand:
    def __init__(self):
        self.model = network()
        self.squares = [torch.zeros_like(w) for w in self.model.parameters()]
        self.velocity = [torch.zeros_like(w) for w in self.model.parameters()]

    def __call__(self, x, labels):
        for weight in self.model.parameters():
            weight.grad = None
        log_p = self.model(x).log_softmax(-1)
        loss = -log_p.gather(1, labels[:, None]).mean()
        loss.backward()
        with torch.no_grad():
            for weight, square, velocity in zip(self.model.parameters(), self.squares, self.velocity):
                square.add_((weight.grad.square() - square) * (1 - DECAY))
                velocity.mul_(MOMENTUM).add_(weight.grad * torch.rsqrt(square + EPSILON))
                weight.sub_(RATE * velocity)
        return loss.detach()
