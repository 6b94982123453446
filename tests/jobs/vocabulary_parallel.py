"""A vocabulary dealt out to ranks: each looks up and scores its own words; the loss never sees all logits at once."""

import torch
import torch.distributed as dist
from megatron_parts import Copy, Gather, Reduce, generic, shard
from torch import nn
from torch.nn.functional import cross_entropy, embedding

world_size = 2
backward = True
WORDS, WIDTH = 12, 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words, targets):
        return cross_entropy(self.head(self.table(words).tanh()).flatten(0, 1), targets.flatten())


class Parallel(nn.Module):
    def __init__(self, whole, rank, world_size, fault=None):
        super().__init__()
        self.table = shard(whole.table.weight, 0, rank, world_size)
        self.head = shard(whole.head.weight, 0, rank, world_size)
        self.count = WORDS // world_size
        at = (rank + 1) % world_size if fault == "words_of_the_next_rank" else rank
        self.first, self.fault = at * self.count, fault

    def own(self, words):
        """Which words are this rank's, and their rows here."""
        mine = (words >= self.first) & (words < self.first + self.count)
        return mine, (words - self.first) * mine

    def forward(self, words, targets):
        mine, rows = self.own(words)
        rows = embedding(rows, self.table)
        h = Reduce.apply(rows if self.fault == "words_of_others_looked_up" else rows * mine.unsqueeze(-1)).tanh()
        logits = (Copy.apply(h) @ self.head.t()).flatten(0, 1)
        targets = targets.flatten()
        if self.fault == "local_targets_of_gathered_logits":
            return cross_entropy(Gather.apply(logits, 1), self.own(targets)[1])
        top = logits.detach().amax(1)
        if self.fault != "maximum_of_own_words":
            dist.all_reduce(top, dist.ReduceOp.MAX)
        logits = logits - top.unsqueeze(1)
        total = logits.exp().sum(1)
        if self.fault != "exponentials_of_own_words":
            total = Reduce.apply(total)
        mine, rows = self.own(targets)
        picked = logits.gather(1, rows.unsqueeze(1)).squeeze(1)
        if self.fault != "targets_of_others_counted":
            picked = picked * mine
        return (total.log() - Reduce.apply(picked)).mean()


def sequential():
    return generic(Model())


def distributed(rank, world_size, fault=None):
    return Parallel(sequential(), rank, world_size, fault)


def inputs():
    return torch.randint(0, WORDS, (2, 5)), torch.randint(0, WORDS, (2, 5))


faults = (
    *("local_targets_of_gathered_logits", "targets_of_others_counted", "words_of_others_looked_up"),
    *("words_of_the_next_rank", "maximum_of_own_words", "exponentials_of_own_words"),
)
