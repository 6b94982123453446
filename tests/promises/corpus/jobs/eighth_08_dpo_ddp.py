"""Direct preference optimisation with DistributedDataParallel: the policy is wrapped, the frozen reference is a plain copy."""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BETA = 0.1


class TinyLM(nn.Module):
    def __init__(self, vocab=13, dim=8):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.gru = nn.Linear(2 * dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        e = self.tok(ids)
        before = F.pad(e, (0, 0, 1, 0))[:, :-1]
        return self.head(torch.tanh(self.gru(torch.cat([e, before], -1))))


def sequence_logp(model, ids, mask):
    logp = torch.log_softmax(model(ids)[:, :-1], -1)
    picked = logp.gather(-1, ids[:, 1:, None]).squeeze(-1)
    return (picked * mask[:, 1:]).sum(-1)


class DPO(nn.Module):
    def __init__(self, wrap=lambda m: m):
        super().__init__()
        policy = TinyLM()
        self.reference = copy.deepcopy(policy).requires_grad_(False)
        with torch.no_grad():
            for p in self.reference.parameters():
                p.add_(0.05 * torch.randn_like(p))
        self.policy = wrap(policy)

    def forward(self, chosen, chosen_mask, rejected, rejected_mask):
        ids, mask = torch.cat([chosen, rejected]), torch.cat([chosen_mask, rejected_mask])
        policy_chosen, policy_rejected = sequence_logp(self.policy, ids, mask).chunk(2)
        with torch.no_grad():
            ref_chosen, ref_rejected = sequence_logp(self.reference, ids, mask).chunk(2)
        margin = (policy_chosen - ref_chosen) - (policy_rejected - ref_rejected)
        return -F.logsigmoid(BETA * margin).mean()


def sequential():
    return DPO()


def distributed(rank, world_size):
    return DPO(DistributedDataParallel)


def inputs():
    pairs, length = 8, 6
    keep = lambda: (torch.arange(length) < torch.randint(2, length + 1, (pairs, 1))).float()
    return {
        "chosen": torch.randint(0, 13, (pairs, length)),
        "chosen_mask": keep(),
        "rejected": torch.randint(0, 13, (pairs, length)),
        "rejected_mask": keep(),
    }


world_size = 4
relations = {name: "shard(0)" for name in ("chosen", "chosen_mask", "rejected", "rejected_mask")}
expected = {"0": "partial(avg)"}
backward = True

TRUTH = "refines"
