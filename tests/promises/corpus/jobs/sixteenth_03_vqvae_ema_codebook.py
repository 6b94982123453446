"""A VQ-VAE under DDP whose codebook is a moving average of the codes' members, with counts and sums added over the ranks; straight-through gradients."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class EMAQuantizer(nn.Module):
    def __init__(self, codes=5, dim=4, decay=0.9, eps=1e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        embed = torch.randn(codes, dim)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.rand(codes) + 0.5)
        self.register_buffer("embed_avg", embed.clone() * 0.8)

    def forward(self, z):
        distances = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.embed.t() + self.embed.pow(2).sum(1)
        onehot = F.one_hot(distances.argmin(dim=1), self.embed.shape[0]).to(z.dtype)
        q = onehot @ self.embed
        if self.training:
            self.update(z.detach(), onehot)
        commit = F.mse_loss(z, q.detach())
        return z + (q - z).detach(), commit

    @torch.no_grad()
    def update(self, z, onehot):
        n, total = onehot.sum(0), onehot.t() @ z
        dist.all_reduce(n)
        dist.all_reduce(total)
        self.cluster_size.mul_(self.decay).add_(n, alpha=1 - self.decay)
        self.embed_avg.mul_(self.decay).add_(total, alpha=1 - self.decay)
        size = self.cluster_size.sum()
        smoothed = (self.cluster_size + self.eps) / (size + len(n) * self.eps) * size
        self.embed = self.embed_avg / smoothed.unsqueeze(1)


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(7, 10), nn.ReLU(), nn.Linear(10, 4))
        self.quantizer = EMAQuantizer()
        self.decoder = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 7))

    def forward(self, x):
        q, commit = self.quantizer(self.encoder(x))
        return F.mse_loss(self.decoder(q), x) + 0.25 * commit


def sequential():
    return VQVAE()


def distributed(rank, world_size):
    return DDP(VQVAE(), broadcast_buffers=False)


def inputs():
    return torch.randn(12, 7)


world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "partial(avg)"}

TRUTH = "refines"
