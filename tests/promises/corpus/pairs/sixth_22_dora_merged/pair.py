import torch
from torch import nn

torch.manual_seed(6)


class DoraLinear(nn.Module):
    def __init__(self, din=10, dout=12, r=3, alpha=6):
        super().__init__()
        self.base = nn.Linear(din, dout)
        self.lora_A = nn.Linear(din, r, bias=False)
        self.lora_B = nn.Linear(r, dout, bias=False)
        self.scaling = alpha / r
        self.magnitude = nn.Parameter(torch.rand(dout) + 0.5)

    def forward(self, x):
        lora_weight = self.lora_B.weight @ self.lora_A.weight
        weight_norm = torch.linalg.norm(self.base.weight + self.scaling * lora_weight, dim=1)
        mag_norm_scale = (self.magnitude / weight_norm).view(1, -1)
        base_result = self.base(x)
        result_dora = (mag_norm_scale - 1) * (base_result - self.base.bias)
        result_dora = result_dora + mag_norm_scale * self.lora_B(self.lora_A(x)) * self.scaling
        return base_result + result_dora


def merge(layer):
    w = layer.base.weight.double()
    delta = layer.scaling * layer.lora_B.weight.double() @ layer.lora_A.weight.double()
    w = w + delta
    w = layer.magnitude.double()[:, None] * w / w.pow(2).sum(1, keepdim=True).sqrt()
    merged = nn.Linear(layer.base.in_features, layer.base.out_features)
    with torch.no_grad():
        merged.weight.copy_(w)
        merged.bias.copy_(layer.base.bias)
    return merged


left = DoraLinear().eval()
right = merge(left).eval()
inputs = (torch.randn(4, 10),)
