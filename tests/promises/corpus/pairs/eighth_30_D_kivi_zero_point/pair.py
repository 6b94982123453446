"""A key/value cache in small integers: keys quantised per channel in groups of tokens, values per token, both with a minimum."""
import torch
from torch import nn

torch.manual_seed(40)
D, H = 12, 2
DH = D // H


class Decode(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wo = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)

    def query(self, x):
        return self.wq(x).view(x.shape[0], H, 1, DH)


class Dequantise(Decode):
    def forward(self, x, k_code, k_scale, k_min, v_code, v_scale, v_min):
        k = k_code.to(x.dtype) * k_scale + k_min            # [B, H, G, T, DH], scale and min: [B, H, G, 1, DH]
        v = v_code.to(x.dtype) * v_scale + v_min            # [B, H, G * T, DH], scale and min: [B, H, G * T, 1]
        p = torch.softmax(self.query(x) @ k.flatten(2, 3).mT / DH ** 0.5, dim=-1)
        return self.wo((p @ v).reshape(x.shape))


class Folded(Decode):
    """The codes stay integers up to the matmul: scales go into the query, minima into one number per group."""

    def forward(self, x, k_code, k_scale, k_min, v_code, v_scale, v_min):
        q = self.query(x).unsqueeze(2)
        logits = torch.matmul(q * k_scale * DH ** -0.5, k_code.to(x.dtype).mT)
        logits = logits + torch.matmul(q, k_min.mT)
        logits = logits.permute(0, 1, 3, 2, 4).flatten(3)
        p = torch.exp(logits - logits.logsumexp(-1, keepdim=True))
        o = (p * v_scale.mT) @ v_code.to(x.dtype) + p @ v_min
        return self.wo(o.flatten(1))


left, right = Dequantise(), Folded()
right.load_state_dict(left.state_dict())
B, G, T = 2, 3, 2
inputs = (torch.randn(B, D), torch.randint(0, 4, (B, H, G, T, DH)), torch.rand(B, H, G, 1, DH), torch.randn(B, H, G, 1, DH),
          torch.randint(0, 4, (B, H, G * T, DH)), torch.rand(B, H, G * T, 1), torch.randn(B, H, G * T, 1))
