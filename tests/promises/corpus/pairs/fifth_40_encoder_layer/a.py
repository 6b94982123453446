import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=16, heads=4, width=24):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            dim, heads, width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )

    def forward(self, x, padding):
        return self.layer(x, src_key_padding_mask=padding)


torch.manual_seed(0)
program = Encoder().eval()
with torch.no_grad():
    for norm in (program.layer.norm1, program.layer.norm2):
        norm.weight.uniform_(0.5, 1.5)
        norm.bias.normal_(0, 0.2)
    program.layer.self_attn.in_proj_bias.normal_(0, 0.2)
    program.layer.self_attn.out_proj.bias.normal_(0, 0.2)
