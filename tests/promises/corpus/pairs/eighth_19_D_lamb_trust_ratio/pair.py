import torch
import torch.nn.functional as F
from torch import nn

LR, B1, B2, EPS, WD = 0.1, 0.9, 0.99, 1e-6, 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(29)
        self.a, self.b = nn.Linear(5, 7), nn.Linear(7, 2)
        self.step_no = 0
        self.exp_avg = {n: torch.zeros_like(p) for n, p in self.named_parameters()}
        self.exp_avg_sq = {n: torch.zeros_like(p) for n, p in self.named_parameters()}

    def loss(self, x, y):
        return F.mse_loss(self.b(F.gelu(self.a(x))), y)

    def forward(self, x, y):
        self.step_no += 1
        self.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        with torch.no_grad():
            for n, p in self.named_parameters():
                self.update(n, p, p.grad)
        return loss.detach()


class Lamb(Net):
    def update(self, n, p, g):
        m, v = self.exp_avg[n], self.exp_avg_sq[n]
        m.mul_(B1).add_(g, alpha=1 - B1)
        v.mul_(B2).addcmul_(g, g, value=1 - B2)
        denom = (v.sqrt() / (1 - B2 ** self.step_no) ** 0.5).add_(EPS)
        u = (m / (1 - B1 ** self.step_no)).div_(denom)
        u.add_(p, alpha=WD)
        trust = p.norm() / u.norm()
        p.add_(u.mul_(trust), alpha=-LR)


class LambPort(Net):
    def update(self, n, p, g):
        self.exp_avg[n] = torch.lerp(self.exp_avg[n], g, 1 - B1)
        self.exp_avg_sq[n] = torch.lerp(self.exp_avg_sq[n], g * g, 1 - B2)
        m_hat = self.exp_avg[n] / (1 - B1 ** self.step_no)
        v_hat = self.exp_avg_sq[n] / (1 - B2 ** self.step_no)
        r = m_hat / (torch.sqrt(v_hat) + EPS)
        phi = torch.sqrt((p * p).sum()) / torch.sqrt((r * r).sum())
        p.sub_(LR * phi * (r + WD * p))


left, right = Lamb(), LambPort()
inputs = (torch.randn(6, 5), torch.randn(6, 2))
