# EQUAL
"""Camera model: Normalize in the preprocessing, and the mean and standard deviation folded into the stem for the phone."""
import torch
from torch import nn

torch.manual_seed(18)
MEAN = torch.tensor([0.485, 0.456, 0.406])
STD = torch.tensor([0.229, 0.224, 0.225])


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 4, stride=4)
        self.head = nn.Linear(8, 5)

    def forward(self, image):
        x = image.float() / 255
        x = (x - MEAN[:, None, None]) / STD[:, None, None]
        x = torch.relu(self.conv(x))
        return self.head(x.mean(dim=(-2, -1)))


class OnPhone(nn.Module):
    def __init__(self, stem):
        super().__init__()
        w = stem.conv.weight.detach()
        self.conv = nn.Conv2d(3, 8, 4, stride=4)
        self.conv.weight.data = w / (255 * STD).view(1, 3, 1, 1)
        self.conv.bias.data = stem.conv.bias.detach() - (w * (MEAN / STD).view(1, 3, 1, 1)).sum((1, 2, 3))
        self.head = nn.Linear(8, 5)
        self.head.load_state_dict(stem.head.state_dict())

    def forward(self, image):
        x = torch.relu(self.conv(image.float()))
        return self.head(x.flatten(2).mean(-1))


left = Stem().eval()
right = OnPhone(left).eval()
inputs = (torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8),)
