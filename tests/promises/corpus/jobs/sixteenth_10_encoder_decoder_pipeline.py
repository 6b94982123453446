"""A pipeline of an encoder and two decoder stages: the memory travels on to every decoder stage, and its gradients come back added up; two microbatches, SGD."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

D, VOCAB, LR, MICRO = 8, 9, 0.2, 2


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.q, self.kv, self.o = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D)
        self.norm = nn.LayerNorm(D)

    def forward(self, x, memory):
        x = x + torch.tanh(self.mix(x)).cumsum(1)
        k, v = self.kv(memory).chunk(2, dim=-1)
        return x + self.o(F.scaled_dot_product_attention(self.q(self.norm(x)), k, v))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.embed = nn.Sequential(nn.Linear(5, D), nn.GELU(), nn.Linear(D, D)), nn.Embedding(VOCAB, D)
        self.dec1, self.dec2, self.head = DecoderLayer(), DecoderLayer(), nn.Linear(D, VOCAB)


@torch.no_grad()
def sgd(module):
    for p in module.parameters():
        p -= LR * p.grad


class Sequential(Model):
    def forward(self, src, tgt, labels):
        memory = self.encoder(src)
        x = self.dec2(self.dec1(self.embed(tgt), memory), memory)
        loss = F.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())
        loss.backward()
        sgd(self)
        return loss.detach()


class Stage(nn.Module):
    def __init__(self, rank):
        super().__init__()
        full, self.rank = Model(), rank
        for name in (("encoder",), ("embed", "dec1"), ("dec2", "head"))[rank]:
            setattr(self, name, getattr(full, name))

    def receive(self, b, t, src):
        x = torch.empty(b, t, D)
        dist.recv(x, src=src)
        return x

    def forward(self, src, tgt, labels):
        b, s, t = src.shape[0] // MICRO, src.shape[1], tgt.shape[1]
        saved, total = [], 0.0
        for src_m, tgt_m, labels_m in zip(src.chunk(MICRO), tgt.chunk(MICRO), labels.chunk(MICRO)):
            if self.rank == 0:
                memory = self.encoder(src_m)
                dist.send(memory.detach(), dst=1)
                saved.append(memory)
            elif self.rank == 1:
                memory = self.receive(b, s, 0).requires_grad_()
                h = self.dec1(self.embed(tgt_m), memory)
                dist.send(h.detach(), dst=2)
                dist.send(memory.detach(), dst=2)
                saved.append((h, memory))
            else:
                h, memory = self.receive(b, t, 1).requires_grad_(), self.receive(b, s, 1).requires_grad_()
                loss = F.cross_entropy(self.head(self.dec2(h, memory)).flatten(0, 1), labels_m.flatten()) / MICRO
                total = total + loss.detach()
                saved.append((h, memory, loss))
        for item in saved:
            if self.rank == 0:
                item.backward(self.receive(b, s, 1))
            elif self.rank == 1:
                h, memory = item
                h_grad, memory_grad = self.receive(b, t, 2), self.receive(b, s, 2)
                h.backward(h_grad)
                dist.send(memory.grad + memory_grad, dst=0)
            else:
                h, memory, loss = item
                loss.backward()
                dist.send(h.grad, dst=1)
                dist.send(memory.grad, dst=1)
        sgd(self)
        return {"0": total} if self.rank == 2 else {}


sequential = Sequential
distributed = lambda rank, world_size: Stage(rank)
inputs = lambda: (torch.randn(4, 6, 5), torch.randint(0, VOCAB, (4, 5)), torch.randint(0, VOCAB, (4, 5)))
world_size = 3

TRUTH = "refines"
