"""A K-FAC step: factors and gradients are averaged over the ranks, each layer's inverses are computed by the rank that owns it, and its preconditioned gradient is broadcast."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

LR, DAMPING = 0.1, 0.05


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 3)])

    def forward(self, x):
        seen = []                                       # (layer, its input, its output)
        for i, layer in enumerate(self.layers):
            y = layer(x)
            seen.append((layer, x, y))
            x = torch.tanh(y) if i < 2 else y
        return x, seen


class KFAC(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def mean(self, t):
        return t

    def precondition(self, i, grad, a, g):
        eye_a, eye_g = torch.eye(len(a)), torch.eye(len(g))
        pi = (a.trace() / len(a) / (g.trace() / len(g))).sqrt()
        return torch.linalg.inv(g + DAMPING / pi * eye_g) @ grad @ torch.linalg.inv(a + DAMPING * pi * eye_a)

    def forward(self, x, labels):
        logits, seen = self.net(x)
        loss = F.cross_entropy(logits, labels)
        wrt = [y for _, _, y in seen] + [p for layer, _, _ in seen for p in (layer.weight, layer.bias)]
        grads = torch.autograd.grad(loss, wrt)
        n, count = len(seen), len(x)
        updates = []
        for i, (layer, inp, _) in enumerate(seen):
            inp = torch.cat([inp.detach(), torch.ones(count, 1)], dim=1)
            a = self.mean(inp.t() @ inp / count)
            out_grad = grads[i] * count                  # of each sample's own loss
            g = self.mean(out_grad.t() @ out_grad / count)
            grad = self.mean(torch.cat([grads[n + 2 * i], grads[n + 2 * i + 1].unsqueeze(1)], dim=1))
            updates.append(self.precondition(i, grad, a, g))
        with torch.no_grad():
            for (layer, _, _), update in zip(seen, self.finish(updates)):
                layer.weight -= LR * update[:, :-1]
                layer.bias -= LR * update[:, -1]
        return self.mean(loss.detach())

    def finish(self, updates):
        return updates


class DistributedKFAC(KFAC):
    def mean(self, t):
        t = t.clone()
        dist.all_reduce(t)
        return t / dist.get_world_size()

    def owner(self, i):
        return i % dist.get_world_size()

    def precondition(self, i, grad, a, g):
        if self.owner(i) == dist.get_rank():
            return super().precondition(i, grad, a, g).contiguous()
        return torch.empty_like(grad)

    def finish(self, updates):
        works = [dist.broadcast(u, src=self.owner(i), async_op=True) for i, u in enumerate(updates)]
        for work in works:
            work.wait()
        return updates


sequential = KFAC
distributed = lambda rank, world_size: DistributedKFAC()
inputs = lambda: (torch.randn(12, 5), torch.randint(0, 3, (12,)))
world_size = 2
relations = {"x": "shard(0)", "labels": "shard(0)"}

TRUTH = "refines"
