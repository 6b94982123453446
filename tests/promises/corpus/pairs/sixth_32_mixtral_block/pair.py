import torch
import torch.nn.functional as F
from torch import nn
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

torch.manual_seed(15)
config = MixtralConfig(hidden_size=8, intermediate_size=12, num_local_experts=4, num_experts_per_tok=2)
config._experts_implementation = "eager"
block = MixtralSparseMoeBlock(config).eval()
for p in block.parameters():
    nn.init.normal_(p, std=0.3)


class Expert(nn.Module):
    def __init__(self, gate_up, down):
        super().__init__()
        w1, w3 = gate_up.detach().chunk(2, 0)
        self.w1 = nn.Parameter(w1.clone())
        self.w3 = nn.Parameter(w3.clone())
        self.w2 = nn.Parameter(down.detach().clone())

    def forward(self, x):
        return F.linear(F.silu(F.linear(x, self.w1)) * F.linear(x, self.w3), self.w2)


class DenseMoe(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.router = nn.Linear(8, 4, bias=False)
        self.router.weight.data = ref.gate.weight.detach().clone()
        self.experts = nn.ModuleList(
            [Expert(ref.experts.gate_up_proj[e], ref.experts.down_proj[e]) for e in range(4)]
        )

    def forward(self, x):
        logits = self.router(x)
        top, chosen = logits.topk(2, dim=-1)
        weights = top.softmax(-1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            share = (weights * (chosen == e)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out


left = block
right = DenseMoe(block).eval()
inputs = (torch.randn(2, 3, 8),)
