"""One critic step of WGAN-GP on small images."""
import torch
from torch import nn

LAMBDA, LR = 10.0, 1e-2


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=2, padding=1)
        self.score = nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.conv1(x))
        h = torch.tanh(self.conv2(h))
        return self.score(h.mean(dim=(2, 3)))


class CriticStep:
    def __init__(self):
        self.critic = Critic()
        self.opt = torch.optim.SGD(self.critic.parameters(), lr=LR)

    def penalty(self, real, fake, eps):
        mixed = (eps.view(-1, 1, 1, 1) * real + (1 - eps.view(-1, 1, 1, 1)) * fake).requires_grad_(True)
        scores = self.critic(mixed)
        (grad,) = torch.autograd.grad(scores, mixed, torch.ones_like(scores), create_graph=True)
        return ((grad.view(len(grad), -1).norm(2, dim=1) - 1) ** 2).mean()

    def __call__(self, real, fake, eps):
        self.opt.zero_grad()
        loss = self.critic(fake).mean() - self.critic(real).mean() + LAMBDA * self.penalty(real, fake, eps)
        loss.backward()
        self.opt.step()
        return loss.detach()


class PortedStep(CriticStep):
    def penalty(self, real, fake, eps):
        mixed = torch.lerp(fake, real, eps[:, None, None, None]).detach().requires_grad_(True)
        grad = torch.autograd.grad(self.critic(mixed).sum(), mixed, create_graph=True)[0]
        return (grad.norm(2, dim=1) - 1).square().mean()


left = CriticStep
right = PortedStep


def inputs():
    return torch.randn(3, 3, 8, 8), torch.randn(3, 3, 8, 8), torch.rand(3)
