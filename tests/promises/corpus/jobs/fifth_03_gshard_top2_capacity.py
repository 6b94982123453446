"""GShard's mixture of experts: top two with capacity for each group of tokens, one-hot dispatch, all-to-all to the experts and back."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "every rank has one group, capacity counts within a group, and the second all-to-all undoes the first"

world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}

E, D, HID, CAP = 4, 6, 8, 3


def top2(logits):
    gates = logits.softmax(-1)                                     # [S, E]
    first = gates.argmax(-1)
    mask1 = F.one_hot(first, E)
    second = gates.masked_fill(mask1.bool(), float("-inf")).argmax(-1)
    mask2 = F.one_hot(second, E)
    at1 = mask1.cumsum(0) * mask1 - mask1
    at2 = (mask2.cumsum(0) - 1 + mask1.sum(0, keepdim=True)) * mask2
    mask1 = mask1 * (at1 < CAP)
    mask2 = mask2 * (at2 < CAP)
    g1, g2 = (gates * mask1).sum(-1), (gates * mask2).sum(-1)
    total = (g1 + g2).clamp(min=1e-9)
    g1, g2 = g1 / total, g2 / total
    combine = torch.zeros(logits.shape[0], E, CAP)
    for g, mask, at in ((g1, mask1, at1), (g2, mask2, at2)):
        place = F.one_hot((at * mask).sum(-1), E * CAP)[:, :CAP].float()
        combine = combine + g[:, None, None] * mask[:, :, None] * place[:, None, :]
    return combine, (combine > 0).float()


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.gate = nn.Linear(D, E, bias=False)
        self.wi = nn.Parameter(0.4 * torch.randn(E, D, HID))
        self.wo = nn.Parameter(0.4 * torch.randn(E, HID, D))

    def experts(self, t, wi, wo):
        return torch.relu(t @ wi) @ wo

    def forward(self, x):                                          # [groups, S, D]
        out = []
        for group in x:
            combine, dispatch = top2(self.gate(group))
            sent = torch.einsum("sec,sd->ecd", dispatch, group)
            out.append(torch.einsum("sec,ecd->sd", combine, self.experts(sent, self.wi, self.wo)))
        return torch.stack(out)


class MoEParallel(MoE):
    def forward(self, x):
        rank, size = dist.get_rank(), dist.get_world_size()
        own = E // size
        group = x.squeeze(0)
        combine, dispatch = top2(self.gate(group))
        sent = torch.einsum("sec,sd->ecd", dispatch, group).contiguous()
        got = torch.empty_like(sent)
        dist.all_to_all_single(got, sent)
        got = got.view(size, own, CAP, D).transpose(0, 1).reshape(own, size * CAP, D)
        mine = slice(rank * own, (rank + 1) * own)
        done = self.experts(got, self.wi[mine], self.wo[mine])
        done = done.view(own, size, CAP, D).transpose(0, 1).reshape(E, CAP, D).contiguous()
        back = torch.empty_like(done)
        dist.all_to_all_single(back, done)
        return torch.einsum("sec,ecd->sd", combine, back).unsqueeze(0)


def sequential():
    return MoE()


def distributed(rank, world_size):
    return MoEParallel()


def inputs():
    torch.manual_seed(5)
    return (torch.randn(2, 5, D),)
