"""DeepSpeed-Ulysses: sequence cut outside attention, heads cut inside; rotary positions are applied before the
exchange, so each rank needs its own offset. Four heads on two ranks."""
import torch
import torch.distributed as dist
from torch import nn

world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
H, DH = 4, 4
D = H * DH


def rotary(t, positions):
    """t: [time, heads, DH]"""
    freq = 100.0 ** (-torch.arange(0, DH, 2) / DH)
    angle = positions[:, None, None] * freq
    a, b = t[..., 0::2], t[..., 1::2]
    return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)


def attention(q, k, v):
    s = torch.einsum("thd,shd->hts", q, k) / DH ** 0.5
    s = s + torch.full(s.shape[1:], float("-inf")).triu(1)
    return torch.einsum("hts,shd->thd", s.softmax(-1), v)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.qkv = nn.Linear(D, 3 * D)
        self.out = nn.Linear(D, D)

    def project(self, x, positions):
        q, k, v = self.qkv(x).view(-1, 3, H, DH).unbind(1)
        return rotary(q, positions), rotary(k, positions), v

    def forward(self, x):
        q, k, v = self.project(x, torch.arange(x.shape[0]))
        return self.out(attention(q, k, v).flatten(1))


class Ulysses(Layer):
    def __init__(self, rank, n):
        super().__init__()
        self.rank, self.n = rank, n

    def to_heads(self, t):
        """[time / n, H, d] -> [time, H / n, d]"""
        s = t.shape[0]
        send = t.view(s, self.n, H // self.n, DH).transpose(0, 1).contiguous()
        recv = torch.empty_like(send)
        dist.all_to_all_single(recv, send)
        return recv.flatten(0, 1)

    def to_sequence(self, t):
        """[time, H / n, d] -> [time / n, H, d]"""
        send = t.contiguous()
        recv = torch.empty_like(send)
        dist.all_to_all_single(recv, send)
        recv = recv.view(self.n, -1, H // self.n, DH)
        return recv.permute(1, 2, 0, 3).flatten(1, 2)

    @torch.no_grad()
    def forward(self, x):
        s = x.shape[0]
        q, k, v = self.project(x, torch.arange(self.rank * s, (self.rank + 1) * s))
        y = attention(*(self.to_heads(t) for t in (q, k, v)))
        return self.out(self.to_sequence(y).flatten(1))


def sequential():
    return Layer()


def distributed(rank, world_size):
    return Ulysses(rank, world_size)


def inputs():
    torch.manual_seed(3)
    return (torch.randn(6, D),)


TRUTH = "differs"
