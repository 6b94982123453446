"""RAFT's upsampling of a flow field by convex combinations of 3 x 3 neighbours."""
import torch
from torch import nn
from torch.nn import functional as F


class Upsampler(nn.Module):
    def __init__(self, hidden=5, factor=4):
        super().__init__()
        self.factor = factor
        self.mask = nn.Sequential(
            nn.Conv2d(hidden, 8, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(8, factor * factor * 9, 1)
        )

    def upsample_flow(self, flow, mask):
        N, _, H, W = flow.shape
        s = self.factor
        mask = mask.view(N, 1, 9, s, s, H, W)
        mask = torch.softmax(mask, dim=2)
        up_flow = F.unfold(s * flow, [3, 3], padding=1)
        up_flow = up_flow.view(N, 2, 9, 1, 1, H, W)
        up_flow = torch.sum(mask * up_flow, dim=2)
        up_flow = up_flow.permute(0, 1, 4, 2, 5, 3)
        return up_flow.reshape(N, 2, s * H, s * W)

    def forward(self, net, flow, delta):
        coords = flow + delta
        up_mask = 0.25 * self.mask(net)
        return coords, self.upsample_flow(coords, up_mask)


def inputs():
    return torch.randn(2, 5, 3, 4), torch.randn(2, 2, 3, 4), torch.randn(2, 2, 3, 4) * 0.1
