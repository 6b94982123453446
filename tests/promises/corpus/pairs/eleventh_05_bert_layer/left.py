import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, dim=16, heads=4, hidden=32):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(dim, heads, hidden, dropout=0.1, activation="gelu", batch_first=True)
        for norm in (self.layer.norm1, self.layer.norm2):
            nn.init.normal_(norm.weight, 1.0, 0.2)
            nn.init.normal_(norm.bias, 0.0, 0.2)
        nn.init.normal_(self.layer.self_attn.in_proj_bias)
        nn.init.normal_(self.layer.self_attn.out_proj.bias)
        self.eval()

    def forward(self, x, lengths):
        padding = torch.arange(x.shape[1], device=x.device)[None, :] >= lengths.clamp(min=1)[:, None]
        return self.layer(x, src_key_padding_mask=padding)


def inputs():
    return torch.randn(3, 5, 16), torch.tensor([5, 2, 3])
