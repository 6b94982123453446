"""Switch layer in the style of GShard: tokens in groups, each expert takes at most C tokens of a group, the rest is
passed by. A group lies on a rank, and so do two of the four experts; two all-to-alls."""
import torch
import torch.distributed as dist
import torch.nn as nn

world_size = 2
relations = {"x": "shard(0)"}            # [group, token, model]
expected = {"0": "shard(0)"}
E, C, D, H = 4, 2, 4, 6


def route(x, router):
    """combine weights [g, s, e, c]"""
    probs = router(x).softmax(-1)
    gate, choice = probs.max(-1)
    hot = nn.functional.one_hot(choice, E)                       # g s e
    place = (hot.cumsum(1) * hot).sum(-1) - 1                    # place of each token in its expert's queue
    fits = place < C
    slot = nn.functional.one_hot(place.clamp(max=C - 1), C).to(x.dtype)
    return (gate * fits)[..., None, None] * hot.to(x.dtype).unsqueeze(-1) * slot.unsqueeze(-2)


class Switch(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.router = nn.Linear(D, E, bias=False)
        self.w_in = nn.Parameter(torch.randn(E, D, H))
        self.w_out = nn.Parameter(torch.randn(E, H, D))

    def experts(self, t):                                        # e n d
        return torch.relu(t @ self.w_in) @ self.w_out

    @torch.no_grad()
    def forward(self, x):
        combine = route(x, self.router)
        dispatch = (combine > 0).to(x.dtype)
        sent = torch.einsum("gsec,gsd->egcd", dispatch, x)
        done = self.experts(sent.flatten(1, 2)).view_as(sent)
        return x + torch.einsum("gsec,egcd->gsd", combine, done)


class SwitchEP(Switch):
    def __init__(self, rank, n):
        super().__init__()
        self.n = n
        self.w_in = nn.Parameter(self.w_in.detach().chunk(n)[rank].clone())
        self.w_out = nn.Parameter(self.w_out.detach().chunk(n)[rank].clone())

    @torch.no_grad()
    def forward(self, x):
        combine = route(x, self.router)
        dispatch = (combine > 0).to(x.dtype)
        sent = torch.einsum("gsec,gsd->ecd", dispatch, x)        # one group here
        arrived = torch.empty_like(sent)
        dist.all_to_all_single(arrived, sent.contiguous())
        per_rank = arrived.view(self.n, E // self.n, C, D)       # from which rank, which of my experts
        work = per_rank.transpose(0, 1).reshape(E // self.n, self.n * C, D)
        work = self.experts(work)
        back = work.view(E // self.n, self.n, C, D).transpose(0, 1).contiguous()
        done = torch.empty_like(back)
        dist.all_to_all_single(done, back)
        done = done.view(E, C, D)
        return x + torch.einsum("gsec,ecd->gsd", combine, done)


def sequential():
    return Switch()


def distributed(rank, world_size):
    return SwitchEP(rank, world_size)


def inputs():
    torch.manual_seed(3)
    return (torch.randn(2, 7, D),)


TRUTH = "refines"
