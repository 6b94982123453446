import torch
from torch import nn

torch.manual_seed(101)


class SqueezeExcite(nn.Module):
    """As in EfficientNet: pool, two 1x1 convolutions, a gate."""

    def __init__(self, channels=6, squeezed=3):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        scale = self.fc2(torch.relu(self.fc1(self.pool(x))))
        return x * torch.sigmoid(scale)


class SqueezeExciteLinear(nn.Module):
    def __init__(self, channels=6, squeezed=3):
        super().__init__()
        self.reduce = nn.Linear(channels, squeezed)
        self.expand = nn.Linear(squeezed, channels)

    def forward(self, x):
        b, c = x.shape[:2]
        s = x.flatten(2).mean(dim=2)
        s = self.expand(self.reduce(s).clamp(min=0))
        return x * s.sigmoid().view(b, c, 1, 1)


left = SqueezeExcite()
right = SqueezeExciteLinear()
right.load_state_dict({
    "reduce.weight": left.fc1.weight.detach().flatten(1),
    "reduce.bias": left.fc1.bias.detach(),
    "expand.weight": left.fc2.weight.detach().flatten(1),
    "expand.bias": left.fc2.bias.detach(),
})
inputs = (torch.randn(3, 6, 5, 4),)
