# DIFFERENT: right adds weight decay to the gradient (L2, Adam), left decouples it (AdamW). Place: g = p.grad + 0.1 * p
"""Fine-tuning step of a classifier: torch.optim.AdamW, and the update written out for our on-device trainer."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


class Reference(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=3e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1)

    def forward(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.detach()


class OnDevice(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.net = copy.deepcopy(ref.net)
        self.m = [torch.zeros_like(p) for p in self.net.parameters()]
        self.v = [torch.zeros_like(p) for p in self.net.parameters()]
        self.t = 0

    def forward(self, x, y):
        logits = self.net(x)
        loss = (logits.logsumexp(1) - logits.gather(1, y[:, None])[:, 0]).mean()
        for p in self.net.parameters():
            p.grad = None
        loss.backward()
        self.t += 1
        lr, b1, b2 = 3e-3, 0.9, 0.98
        with torch.no_grad():
            for p, m, v in zip(self.net.parameters(), self.m, self.v):
                g = p.grad + 0.1 * p
                m.mul_(b1).add_(g, alpha=1 - b1)
                v.mul_(b2).addcmul_(g, g, value=1 - b2)
                mhat = m / (1 - b1 ** self.t)
                vhat = v / (1 - b2 ** self.t)
                p.sub_(lr * mhat / (vhat.sqrt() + 1e-6))
        return loss.detach()


left = Reference()
right = OnDevice(left)
inputs = (torch.randn(6, 5), torch.randint(0, 3, (6,)))
