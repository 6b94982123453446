"""One step of knowledge distillation: with torch's own pieces, and with the loop that we took over from JAX."""
import torch
from torch import nn
from torch.nn import functional as F

LR, MOMENTUM, DECAY, TEMP, ALPHA = 0.05, 0.9, 1e-4, 4.0, 0.7
B, D, K = 6, 10, 5


class Step:
    def __init__(self):
        self.student = nn.Sequential(nn.Linear(D, 12), nn.ReLU(), nn.Linear(12, K))
        self.teacher = nn.Sequential(nn.Linear(D, 20), nn.ReLU(), nn.Linear(20, K)).requires_grad_(False)


class ByTorch(Step):
    def __init__(self):
        super().__init__()
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=DECAY, nesterov=True)

    def __call__(self, x, y):
        with torch.no_grad():
            t_logits = self.teacher(x)
        s_logits = self.student(x)
        soft = F.kl_div(F.log_softmax(s_logits / TEMP, dim=1), F.softmax(t_logits / TEMP, dim=1), reduction="batchmean")
        hard = F.cross_entropy(s_logits, y)
        loss = ALPHA * TEMP**2 * soft + (1 - ALPHA) * hard
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ByHand(Step):
    def __init__(self):
        super().__init__()
        self.velocity = [torch.zeros_like(p) for p in self.student.parameters()]

    def __call__(self, x, y):
        for p in self.student.parameters():
            p.grad = None
        with torch.no_grad():
            t_logp = torch.log_softmax(self.teacher(x) / TEMP, dim=-1)
            t_prob = t_logp.exp()
        logits = self.student(x)
        s_logp = torch.log_softmax(logits / TEMP, dim=-1)
        soft = (t_prob * (t_logp - s_logp)).sum() / x.shape[0]
        hard = (torch.logsumexp(logits, -1) - logits.gather(1, y[:, None]).squeeze(1)).mean()
        loss = ALPHA * TEMP**2 * soft + (1 - ALPHA) * hard
        loss.backward()
        with torch.no_grad():
            for p, v in zip(self.student.parameters(), self.velocity):
                g = p.grad + DECAY * p
                v.mul_(MOMENTUM).add_(g)
                p.sub_(LR * (g + MOMENTUM * v))
        return loss.detach()


left = ByTorch
right = ByHand


def inputs():
    return torch.randn(B, D), torch.randint(0, K, (B,))
