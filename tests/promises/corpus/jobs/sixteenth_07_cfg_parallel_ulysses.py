"""A flow-matching sampler with classifier-free guidance: conditional and unconditional branch on different ranks (xDiT), tokens cut by Ulysses inside each; guidance rescaled."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

D, HEADS, TOKENS = 16, 4, 8
SIGMAS, GUIDANCE, RESCALE = (1.0, 0.55, 0.0), 4.0, 0.3


class DiT(nn.Module):
    def __init__(self):
        super().__init__()
        self.x_in, self.x_out = nn.Linear(4, D), nn.Linear(D, 4)
        self.pos = nn.Parameter(torch.randn(TOKENS, D) * 0.1)
        self.time = nn.Sequential(nn.Linear(1, D), nn.SiLU(), nn.Linear(D, D))
        self.mod = nn.Linear(D, 6 * D)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(approximate="tanh"), nn.Linear(2 * D, D))

    positions = slice(None)

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    def forward(self, latents, cond, sigma):
        x = self.x_in(latents) + self.pos[self.positions]
        c = F.silu(cond + self.time(torch.full_like(cond[:, :1], sigma)))
        shift1, scale1, gate1, shift2, scale2, gate2 = self.mod(c).unsqueeze(1).chunk(6, dim=-1)
        h = F.layer_norm(x, (D,)) * (1 + scale1) + shift1
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(h).chunk(3, dim=-1))
        x = x + gate1 * self.proj(self.attend(q, k, v).transpose(1, 2).flatten(2))
        x = x + gate2 * self.mlp(F.layer_norm(x, (D,)) * (1 + scale2) + shift2)
        return self.x_out(x)


class Sampler(nn.Module):
    def __init__(self, dit):
        super().__init__()
        self.dit = dit

    def both(self, latents, prompt, null, sigma):
        return self.dit(torch.cat([latents, latents]), torch.cat([prompt, null]), sigma).chunk(2)

    def forward(self, latents, prompt, null):
        for sigma, following in zip(SIGMAS, SIGMAS[1:]):
            cond, uncond = self.both(latents, prompt, null, sigma)
            v = uncond + GUIDANCE * (cond - uncond)
            rescaled = v * (cond.std(dim=(1, 2), keepdim=True) / v.std(dim=(1, 2), keepdim=True))
            v = RESCALE * rescaled + (1 - RESCALE) * v
            latents = latents + (following - sigma) * v
        return latents


class UlyssesDiT(DiT):
    def __init__(self, group):
        super().__init__()
        self.group, self.n = group, group.size()
        here = TOKENS // self.n
        self.positions = slice(group.rank() * here, (group.rank() + 1) * here)

    def swap(self, t, scatter, gather):
        send = torch.stack(t.chunk(self.n, dim=scatter)).contiguous()
        received = torch.empty_like(send)
        dist.all_to_all_single(received, send, group=self.group)
        return torch.cat(received.unbind(0), dim=gather)

    def attend(self, q, k, v):
        o = super().attend(*(self.swap(t, 1, 2) for t in (q, k, v)))
        return self.swap(o, 2, 1)


class ParallelSampler(Sampler):
    def __init__(self, mesh):
        super().__init__(UlyssesDiT(mesh.get_group("sp")))
        self.cfg_group, self.sp_group = mesh.get_group("cfg"), mesh.get_group("sp")
        self.cfg_rank = mesh.get_local_rank("cfg")

    def both(self, latents, prompt, null, sigma):
        v = self.dit(latents[:, self.dit.positions], prompt if self.cfg_rank == 0 else null, sigma).contiguous()
        parts = [torch.empty_like(v) for _ in range(self.sp_group.size())]
        dist.all_gather(parts, v, group=self.sp_group)
        v = torch.cat(parts, dim=1)
        branches = [torch.empty_like(v) for _ in range(2)]
        dist.all_gather(branches, v, group=self.cfg_group)
        return branches


sequential = lambda: Sampler(DiT())
distributed = lambda rank, world_size, mesh: ParallelSampler(mesh)
inputs = lambda: (torch.randn(1, TOKENS, 4), torch.randn(1, D), torch.randn(1, D))
mesh = {"cfg": 2, "sp": 2}

TRUTH = "refines"
