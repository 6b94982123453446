"""GRPO: completions of a prompt stay on one rank, so that group advantages are local; the loss is normalised by the number of
completion tokens in the whole batch (DAPO's token-level loss), with a k3 penalty towards the reference policy."""

import torch
import torch.distributed as dist
from torch import nn

GROUP, BETA, LOW, HIGH = 3, 0.04, 0.2, 0.28


class Policy(nn.Module):
    def __init__(self, vocab=11, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        h = self.embed(ids)
        h = h + torch.tanh(self.mix(torch.cumsum(h, 1) / torch.arange(1, ids.shape[1] + 1).unsqueeze(-1)))
        return self.head(h)


def token_logps(logits, ids):
    return torch.log_softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)


def group_advantages(rewards):
    grouped = rewards.view(-1, GROUP)
    centred = grouped - grouped.mean(1, keepdim=True)
    return (centred / (grouped.std(1, keepdim=True) + 1e-4)).view(-1)


class GRPO(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = Policy()

    def token_losses(self, ids, mask, rewards, old_logp, ref_logp):
        logp = token_logps(self.policy(ids), ids)
        advantages = group_advantages(rewards).unsqueeze(1)
        ratio = (logp - old_logp).exp()
        gain = torch.min(ratio * advantages, ratio.clamp(1 - LOW, 1 + HIGH) * advantages)
        away = ref_logp - logp
        kl = away.exp() - away - 1
        return (BETA * kl - gain) * mask, kl * mask

    def forward(self, ids, mask, rewards, old_logp, ref_logp):
        losses, kl = self.token_losses(ids, mask, rewards, old_logp, ref_logp)
        tokens = mask.sum()
        return {"loss": losses.sum() / tokens, "kl": kl.detach().sum() / tokens}


class ShardedGRPO(GRPO):
    def forward(self, ids, mask, rewards, old_logp, ref_logp):
        losses, kl = self.token_losses(ids, mask, rewards, old_logp, ref_logp)
        tokens = mask.detach().sum()
        dist.all_reduce(tokens)
        kl = kl.detach().sum()
        dist.all_reduce(kl)
        return {"loss": losses.sum() / tokens, "kl": kl / tokens}


def reduce_gradient(param):
    dist.all_reduce(param.grad)


def sequential():
    return GRPO()


def distributed(rank, world_size):
    model = ShardedGRPO()
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(reduce_gradient)
    return model


def inputs():
    n, length = 4 * GROUP, 6
    lengths = torch.randint(2, length, (n, 1))
    return {
        "ids": torch.randint(0, 11, (n, length)),
        "mask": (torch.arange(length - 1) < lengths).long(),
        "rewards": torch.rand(n),
        "old_logp": -torch.rand(n, length - 1) - 1.5,
        "ref_logp": -torch.rand(n, length - 1) - 1.5,
    }


world_size = 2
relations = {name: "shard(0)" for name in ("ids", "mask", "rewards", "old_logp", "ref_logp")}
expected = {"loss": "partial"}
backward = True

TRUTH = "refines"
