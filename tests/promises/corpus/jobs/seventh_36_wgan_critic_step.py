# A critic step of a Wasserstein GAN with weight clipping under DDP. Real and generated samples go through the critic in one
# batch, so that DDP sees one forward per backward.
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CLIP = 0.15


class Critic(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))


class Generator(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 4))


class CriticUpdate(nn.Module):
    def __init__(self, wrap=lambda m: m):
        super().__init__()
        self.generator = Generator().requires_grad_(False)
        self.critic = wrap(Critic())
        self.optim = torch.optim.RMSprop(self.critic.parameters(), lr=5e-2, eps=1e-2)

    def forward(self, real, noise):
        with torch.no_grad():
            fake = self.generator(noise)
        scores = self.critic(torch.cat([real, fake])).squeeze(1)
        on_real, on_fake = scores.split([len(real), len(fake)])
        loss = on_fake.mean() - on_real.mean()
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        with torch.no_grad():
            for p in self.critic.parameters():
                p.clamp_(-CLIP, CLIP)
        return {"wasserstein": -loss.detach()}


def sequential():
    return CriticUpdate()


def distributed(rank, world_size):
    return CriticUpdate(lambda m: DistributedDataParallel(m, bucket_cap_mb=1))


def inputs():
    return {"real": torch.randn(6, 4), "noise": torch.randn(6, 3)}


world_size = 3
relations = {"real": "shard(0)", "noise": "shard(0)"}
expected = {"wasserstein": "partial(avg)"}
TRUTH = "refines"
