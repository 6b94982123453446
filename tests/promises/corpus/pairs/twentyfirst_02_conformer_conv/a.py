import torch
from torch import nn


class ConvModule(nn.Module):
    """Convolution module of a Conformer, as trained."""

    def __init__(self, channels=8, kernel=5):
        super().__init__()
        self.layer_norm = nn.LayerNorm(channels)
        self.pointwise_conv1 = nn.Conv1d(channels, 2 * channels, 1, bias=False)
        self.glu = nn.GLU(dim=1)
        self.depthwise_conv = nn.Conv1d(channels, channels, kernel, padding=(kernel - 1) // 2, groups=channels, bias=False)
        self.batch_norm = nn.BatchNorm1d(channels)
        self.activation = nn.SiLU()
        self.pointwise_conv2 = nn.Conv1d(channels, channels, 1, bias=False)

    def forward(self, hidden, pad_mask):
        residual = hidden
        hidden = self.layer_norm(hidden)
        hidden = hidden.masked_fill(pad_mask.unsqueeze(-1), 0.0)
        hidden = hidden.transpose(1, 2)
        hidden = self.glu(self.pointwise_conv1(hidden))
        hidden = self.depthwise_conv(hidden)
        hidden = self.activation(self.batch_norm(hidden))
        hidden = self.pointwise_conv2(hidden)
        return residual + hidden.transpose(1, 2)


def make():
    torch.manual_seed(3)
    m = ConvModule()
    nn.init.normal_(m.layer_norm.weight, 1.0, 0.2)
    nn.init.normal_(m.layer_norm.bias, 0.0, 0.2)
    nn.init.normal_(m.batch_norm.weight, 1.0, 0.2)
    nn.init.normal_(m.batch_norm.bias, 0.0, 0.2)
    nn.init.normal_(m.batch_norm.running_mean, 0.0, 0.3)
    nn.init.uniform_(m.batch_norm.running_var, 0.5, 1.5)
    return m.eval()


def inputs():
    mask = torch.zeros(2, 7, dtype=torch.bool)
    mask[1, 5:] = True
    return torch.randn(2, 7, 8), mask
