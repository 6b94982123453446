import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, dim=16, heads=4, hidden=24):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(dim, heads, hidden, batch_first=True, norm_first=True)
        for name, p in self.layer.named_parameters():
            if p.dim() == 1:
                nn.init.normal_(p, 1.0 if "norm" in name and "weight" in name else 0.0, 0.3)
        self.eval()

    def forward(self, x, memory, memory_lengths):
        t = x.shape[1]
        causal = nn.Transformer.generate_square_subsequent_mask(t, dtype=x.dtype)
        padding = torch.arange(memory.shape[1])[None] >= memory_lengths[:, None]
        return self.layer(x, memory, tgt_mask=causal, memory_key_padding_mask=padding)


def inputs():
    return torch.randn(2, 4, 16), torch.randn(2, 6, 16), torch.tensor([6, 3])
