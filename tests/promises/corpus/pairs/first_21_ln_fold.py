# EQUAL (up to rounding). LayerNorm's affine folded into the linear after it (as TransformerLens' fold_ln)
import torch
from torch import nn

torch.manual_seed(0)


class Pre(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(14)
        self.fc = nn.Linear(14, 10)
        nn.init.normal_(self.ln.weight, 1, .2)
        nn.init.normal_(self.ln.bias, 0, .2)

    def forward(self, x):
        return self.fc(self.ln(x)).relu()


class LayerNormPre(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()


left = Pre()
fc = nn.Linear(14, 10)
fc.weight.data = left.fc.weight.data * left.ln.weight.data[None, :]
fc.bias.data = left.fc.bias.data + left.fc.weight.data @ left.ln.bias.data
right = nn.Sequential(LayerNormPre(), fc, nn.ReLU())
inputs = (torch.randn(3, 4, 14),)
