"""A self-supervised step (BYOL): online network by SGD, target network as moving average."""
import torch
from torch import nn
from torch.nn import functional as F

D, HID, OUT, DECAY = 8, 10, 6, 0.996
B = 4


class Step:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(D, HID), nn.GELU(), nn.Linear(HID, OUT))
        self.target = nn.Sequential(nn.Linear(D, HID), nn.GELU(), nn.Linear(HID, OUT)).requires_grad_(False)
        self.predictor = nn.Linear(OUT, OUT)
        params = [*self.online.parameters(), *self.predictor.parameters()]
        self.optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9)


class Reference(Step):
    def loss(self, p, z):
        p, z = F.normalize(p, dim=-1), F.normalize(z, dim=-1)
        return 2 - 2 * (p * z).sum(dim=-1)

    def __call__(self, view1, view2):
        self.optimizer.zero_grad()
        p1, p2 = self.predictor(self.online(view1)), self.predictor(self.online(view2))
        with torch.no_grad():
            z1, z2 = self.target(view1), self.target(view2)
        loss = (self.loss(p1, z2) + self.loss(p2, z1)).mean()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for t, o in zip(self.target.parameters(), self.online.parameters()):
                t.copy_(DECAY * t + (1 - DECAY) * o)
        return loss.detach()


class Batched(Step):
    def __call__(self, view1, view2):
        views = torch.cat([view1, view2])
        predicted = F.normalize(self.predictor(self.online(views)), dim=-1)
        with torch.no_grad():
            wanted = F.normalize(self.target(views), dim=-1).roll(view1.shape[0], dims=0)
        loss = 4 - 4 * torch.einsum("bd,bd->b", predicted, wanted).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(self.target.parameters()), list(self.online.parameters()), 1 - DECAY)
        return loss.detach()


left = Reference
right = Batched


def inputs():
    return torch.randn(B, D), torch.randn(B, D)
