"""Grad-CAM by autograd, and CAM from the weights of the classifier."""
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=2, padding=1)
        self.fc = nn.Linear(8, 5)

    def features(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))

    def forward(self, x):
        return self.fc(self.features(x).mean(dim=(2, 3)))


class GradCAM(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, target):
        a = self.net.features(x)
        logits = self.net.fc(F.adaptive_avg_pool2d(a, 1).flatten(1))
        score = logits.gather(1, target[:, None]).sum()
        (grad,) = torch.autograd.grad(score, a)
        weights = grad.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * a).sum(dim=1))
        return cam / (cam.amax(dim=(1, 2), keepdim=True) + 1e-7)


class CAM(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    @torch.no_grad()
    def forward(self, x, target):
        a = self.net.features(x)
        class_weights = self.net.fc.weight[target] / (a.shape[2] * a.shape[3])
        cam = torch.einsum("bc,bchw->bhw", class_weights, a).clamp(min=0)
        peak = cam.flatten(1).max(dim=1).values
        return cam / (peak[:, None, None] + 1e-7)


torch.manual_seed(0)
net = Net()
left = GradCAM(net)
right = CAM(net)


def inputs():
    return torch.randn(2, 3, 8, 6), torch.tensor([1, 4])
