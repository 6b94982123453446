import torch

from left import SimSiam


def unit(x):
    return x * x.square().sum(-1, keepdim=True).rsqrt()


class Right:
    def __init__(self):
        torch.manual_seed(0)
        self.model = SimSiam()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def __call__(self, x1, x2):
        self.optimizer.zero_grad()
        z = self.model.encoder(torch.cat([x1, x2]))
        p = self.model.predictor(z)
        with torch.no_grad():
            target = unit(torch.cat(z.chunk(2)[::-1]))
        loss = 0.5 * (unit(p) - target).pow(2).sum(-1).mean() - 1
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    x = torch.randn(4, 8)
    return x + 0.1 * torch.randn(4, 8), x + 0.1 * torch.randn(4, 8)
