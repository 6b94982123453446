import torch
import torch.nn.functional as F
from torch import nn

LR, DECAY, EPS2, CLIP, WD = 0.05, -0.8, 1e-3, 1.0, 0.02


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(35)
        self.hidden = nn.Linear(6, 9)
        self.head = nn.Linear(9, 2, bias=False)

    def predict(self, x):
        return self.head(torch.sigmoid(self.hidden(x)))


class TorchAdafactor(Regressor):
    def __init__(self):
        super().__init__()
        self.optimizer = torch.optim.Adafactor(self.parameters(), lr=LR, beta2_decay=DECAY,
                                               eps=(None, EPS2), d=CLIP, weight_decay=WD)

    def forward(self, x, y):
        loss = F.smooth_l1_loss(self.predict(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def rms(t):
    return t.square().mean().sqrt()


class HandAdafactor(Regressor):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.rows, self.cols, self.full = {}, {}, {}
        for name, p in self.named_parameters():
            if p.ndim == 2:
                self.rows[name], self.cols[name] = torch.zeros(p.shape[0]), torch.zeros(p.shape[1])
            else:
                self.full[name] = torch.zeros_like(p)

    def forward(self, x, y):
        loss = F.smooth_l1_loss(self.predict(x), y)
        named = dict(self.named_parameters())
        grads = torch.autograd.grad(loss, list(named.values()))
        self.count += 1
        w = self.count ** DECAY
        rho = min(LR, self.count ** -0.5)
        with torch.no_grad():
            for (name, p), g in zip(named.items(), grads):
                p.grad = g
                tiny = torch.finfo(p.dtype).eps
                alpha = rms(p).clamp(min=EPS2) * rho
                g2 = g * g
                if p.ndim == 2:
                    r = self.rows[name] = (1 - w) * self.rows[name] + w * g2.mean(dim=1)
                    c = self.cols[name] = (1 - w) * self.cols[name] + w * g2.mean(dim=0)
                    v = torch.outer(r, c) / r.mean().clamp(min=tiny)
                else:
                    v = self.full[name] = (1 - w) * self.full[name] + w * g2
                u = g / v.clamp(min=tiny ** 2).sqrt()
                u = u / (rms(u) / CLIP).clamp(min=1.0)
                p.copy_(p * (1 - LR * WD) - alpha * u)
        return loss.detach()


left, right = TorchAdafactor(), HandAdafactor()
inputs = (torch.randn(8, 6), torch.randn(8, 2))
