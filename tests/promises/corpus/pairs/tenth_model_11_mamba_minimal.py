# EQUAL
"""Mamba in one short file: the recurrence as a plain loop over tokens that carries h, layout [batch, time, channel]."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import MambaConfig, MambaForCausalLM

D, E, N, R, K, V = 16, 32, 4, 2, 4, 37

config = MambaConfig(
    vocab_size=V, hidden_size=D, state_size=N, num_hidden_layers=2, expand=2, conv_kernel=K, time_step_rank=R,
    use_cache=False, residual_in_fp32=False, tie_word_embeddings=True, pad_token_id=0, bos_token_id=0, eos_token_id=0,
)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.Parameter(torch.ones(D))
        self.in_proj = nn.Linear(D, 2 * E, bias=False)
        self.conv_weight, self.conv_bias = nn.Parameter(torch.empty(K, E)), nn.Parameter(torch.empty(E))
        self.x_proj = nn.Linear(E, R + 2 * N, bias=False)
        self.dt_proj = nn.Linear(R, E)
        self.A_log, self.D = nn.Parameter(torch.empty(E, N)), nn.Parameter(torch.empty(E))
        self.out_proj = nn.Linear(E, D, bias=False)

    def forward(self, x):
        b, length, _ = x.shape
        u = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.norm
        u, gate = self.in_proj(u).chunk(2, -1)
        # causal depthwise convolution as K shifted products
        padded = F.pad(u, (0, 0, K - 1, 0))
        u = sum(padded[:, j : j + length] * self.conv_weight[j] for j in range(K)) + self.conv_bias
        u = F.silu(u)
        dt, B, C = self.x_proj(u).split([R, N, N], -1)
        dt = F.softplus(self.dt_proj(dt))
        A = -self.A_log.exp()
        h, ys = x.new_zeros(b, E, N), []
        for t in range(length):
            decay = torch.exp(torch.einsum("be,en->ben", dt[:, t], A))
            h = decay * h + torch.einsum("be,bn,be->ben", dt[:, t], B[:, t], u[:, t])
            ys.append(torch.einsum("ben,bn->be", h, C[:, t]))
        y = torch.stack(ys, 1) + u * self.D
        return x + self.out_proj(y * F.silu(gate))


class Mamba(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.layers = nn.ModuleList(Block() for _ in range(2))
        self.norm_f = nn.Parameter(torch.ones(D))

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.norm_f
        return x @ self.embedding.weight.T

    @staticmethod
    def from_hf(hf):
        ours, sd, new = Mamba(), hf.state_dict(), {}
        new["embedding.weight"] = sd["backbone.embeddings.weight"]
        new["norm_f"] = sd["backbone.norm_f.weight"]
        for i in range(2):
            src, dst = f"backbone.layers.{i}.", f"layers.{i}."
            new[dst + "norm"] = sd[src + "norm.weight"]
            new[dst + "conv_weight"] = sd[src + "mixer.conv1d.weight"][:, 0].T
            new[dst + "conv_bias"] = sd[src + "mixer.conv1d.bias"]
            for name in ("in_proj.weight", "x_proj.weight", "dt_proj.weight", "dt_proj.bias", "A_log", "D", "out_proj.weight"):
                new[dst + name] = sd[src + "mixer." + name]
        ours.load_state_dict(new)
        return ours


class HF(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = MambaForCausalLM(config)
        for name, p in self.lm.named_parameters():
            if name.endswith("conv1d.bias") or name.endswith("mixer.D"):
                nn.init.normal_(p)

    def forward(self, ids):
        return self.lm(ids, use_cache=False).logits


left = HF().eval()
right = Mamba.from_hf(left.lm).eval()
inputs = (torch.randint(1, V, (2, 5)),)
