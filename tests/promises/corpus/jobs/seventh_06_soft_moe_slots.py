# Soft MoE (Puigcerver et al. 2023). Each expert owns two slots; dispatch is a softmax over tokens,
# which is local to a slot, combine is a softmax over all slots, which is not.
import torch
import torch.distributed as dist
from torch import nn

N_EXPERTS, SLOTS, DIM = 4, 2, 6


class SoftMoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Parameter(torch.randn(N_EXPERTS, SLOTS, DIM) * 0.5)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(DIM, 10), nn.SiLU(), nn.Linear(10, DIM)) for _ in range(N_EXPERTS))

    def forward(self, x):
        logits = torch.einsum("btd,esd->btes", x, self.phi)
        b, t = x.shape[:2]
        dispatch = logits.softmax(dim=1)
        combine = logits.reshape(b, t, -1).softmax(dim=-1).view_as(logits)
        slots = torch.einsum("btes,btd->besd", dispatch, x)
        done = torch.stack([f(slots[:, i]) for i, f in enumerate(self.experts)], dim=1)
        return torch.einsum("btes,besd->btd", combine, done)


class SoftMoEParallel(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        whole = SoftMoE()
        per = N_EXPERTS // world_size
        self.first = rank * per
        self.phi = nn.Parameter(whole.phi.detach()[self.first:self.first + per].clone())
        self.experts = nn.ModuleDict({str(i): whole.experts[i] for i in range(self.first, self.first + per)})

    def forward(self, x):
        logits = torch.einsum("btd,esd->btes", x, self.phi)
        dispatch = torch.softmax(logits, 1)
        slots = torch.einsum("btes,btd->besd", dispatch, x)
        done = torch.stack([f(slots[:, i]) for i, f in enumerate(self.experts.values())], dim=1)
        # combine: exp(l - m) / sum over the slots of all ranks
        peak = logits.amax(dim=(2, 3), keepdim=True)
        dist.all_reduce(peak, op=dist.ReduceOp.MAX)
        weights = (logits - peak).exp()
        numerator = torch.einsum("btes,besd->btd", weights, done)
        denominator = weights.sum(dim=(2, 3)).unsqueeze(-1)
        both = torch.cat([numerator, denominator], dim=-1)
        dist.all_reduce(both)
        return both[..., :-1] / both[..., -1:]


def sequential():
    return SoftMoE()


def distributed(rank, world_size):
    return SoftMoEParallel(rank, world_size)


def inputs():
    return (torch.randn(2, 5, DIM),)


world_size = 2
TRUTH = "refines"
