"""Two steps of schedule-free SGD on a model under fully_shard: the points z and x are kept as DTensors beside the weights, which end at the average x."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.w1, self.w2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.w2(F.silu(self.w1(self.norm(x))))


class Regressor(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.stem = nn.Linear(6, d)
        self.blocks = nn.ModuleList(ResBlock(d) for _ in range(2))
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x).squeeze(-1)


class ScheduleFreeSGD:
    """Gradients are taken at y = (1 - beta) z + beta x, where x is the running average of z (Defazio et al. 2024)."""

    def __init__(self, params, lr=0.05, beta=0.9, weight_decay=0.01):
        self.params, self.lr, self.beta, self.decay = list(params), lr, beta, weight_decay
        self.z, self.x, self.k = None, None, 0

    @torch.no_grad()
    def step(self):
        if self.z is None:
            self.z = [p.detach().clone() for p in self.params]
            self.x = [p.detach().clone() for p in self.params]
        self.k += 1
        for p, z, x in zip(self.params, self.z, self.x):
            z.sub_(self.lr * (p.grad + self.decay * p))
            x.mul_(1 - 1 / self.k).add_(z, alpha=1 / self.k)
            p.copy_((1 - self.beta) * z + self.beta * x)
            p.grad = None

    @torch.no_grad()
    def eval(self):
        for p, x in zip(self.params, self.x):
            p.copy_(x)


class TwoSteps(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):                            # steps, batch, …
        optimizer, losses = ScheduleFreeSGD(self.model.parameters()), []
        for x_step, y_step in zip(x.unbind(0), y.unbind(0)):
            loss = F.smooth_l1_loss(self.model(x_step), y_step)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        optimizer.eval()
        losses = torch.stack(losses)
        dist.all_reduce(losses)
        return losses / dist.get_world_size()


sequential = lambda: TwoSteps(Regressor())


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    model = Regressor()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return TwoSteps(model)


inputs = lambda: (torch.randn(2, 8, 6), torch.randn(2, 8))
world_size = 2
relations = {"x": "shard(1)", "y": "shard(1)"}

TRUTH = "refines"
