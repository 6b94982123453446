"""PopArt without autograd: one affine correction for weight and bias, the gradient of the squares written out."""
import torch
from torch import nn

STEP, RATE = 0.1, 0.05


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 3)
        self.register_buffer("mu", torch.zeros(3))
        self.register_buffer("nu", torch.ones(3))


class PreservingHead:
    def __init__(self):
        self.head = Head().requires_grad_(False)

    def scale(self):
        variance = torch.addcmul(self.head.nu, self.head.mu, self.head.mu, value=-1)
        return variance.clamp(1e-4, 1e6).sqrt()

    @torch.no_grad()
    def __call__(self, features, returns):
        head = self.head
        before, shift = self.scale(), head.mu.clone()
        head.mu.lerp_(returns.mean(dim=0), STEP)
        head.nu.lerp_(returns.square().mean(dim=0), STEP)
        after = self.scale()

        ratio = before / after
        weight = torch.diag(ratio) @ head.linear.weight
        bias = ratio * head.linear.bias + (shift - head.mu) / after

        error = features @ weight.T + bias + (head.mu - returns) / after      # in normalised units
        loss = error.square().sum() / (2 * error.numel())
        slope = error / error.numel()
        head.linear.weight.copy_(weight - RATE * slope.T @ features)
        head.linear.bias.copy_(bias - RATE * slope.sum(dim=0))
        unnormalised = torch.addmm(head.linear.bias, features, head.linear.weight.T)
        return loss, torch.addcmul(head.mu, unnormalised, after)
