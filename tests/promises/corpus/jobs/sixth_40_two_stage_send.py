import torch
from torch import nn
import torch.distributed as dist

world_size = 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(13, 6)
        self.mix = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.head = nn.Linear(6, 13, bias=False)

    def front(self, tokens):
        h = self.embed(tokens)
        return h + torch.relu(self.mix(h))

    def back(self, h):
        return self.head(self.norm(h))

    def forward(self, tokens):
        return self.back(self.front(tokens))


def sequential():
    torch.manual_seed(1)
    return Net()


def distributed(rank, world_size):
    net = sequential()
    if rank == 0:
        del net.norm, net.head
    else:
        del net.embed, net.mix

    class Stage(nn.Module):
        def __init__(self):
            super().__init__()
            for name, child in net.named_children():
                self.add_module(name, child)

        def forward(self, tokens):
            if rank == 0:
                dist.send(Net.front(self, tokens), dst=1)
                return None
            h = torch.empty(*tokens.shape, 6)
            dist.recv(h, src=0)
            return Net.back(self, h)

    return Stage()


def inputs():
    return (torch.tensor([[1, 2, 3, 12], [0, 5, 4, 4]]),)


TRUTH = "refines"
