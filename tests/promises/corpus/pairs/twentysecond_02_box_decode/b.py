"""The RPN for an accelerator: channels last, 1×1 convolutions as one matmul, boxes decoded as centre ± half the size."""

import torch
from a import RegionProposals
from torch import nn


class FusedProposals(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = RegionProposals()
        head = theirs.head
        self.conv = head.conv
        self.A = head.cls_logits.out_channels
        self.weight = nn.Parameter(torch.cat([head.cls_logits.weight, head.bbox_pred.weight]).flatten(1).detach())
        self.bias = nn.Parameter(torch.cat([head.cls_logits.bias, head.bbox_pred.bias]).detach())
        self.stride = theirs.stride
        self.register_buffer("cell", theirs.cell.clone())

    def forward(self, features):
        N, _, H, W = features.shape
        t = self.conv(features).relu().permute(0, 2, 3, 1)
        out = t @ self.weight.t() + self.bias                                     # [N, H, W, A + 4 A]
        scores = torch.sigmoid(out[..., : self.A]).flatten(1)
        deltas = out[..., self.A :].reshape(N, H, W, self.A, 4)
        size = self.cell[:, 2:] - self.cell[:, :2]                                # [A, 2]; cells are centred at 0
        rows = torch.arange(H, dtype=features.dtype)[:, None].expand(H, W)
        cols = torch.arange(W, dtype=features.dtype)[None, :].expand(H, W)
        grid = torch.stack([cols, rows], -1)[:, :, None] * self.stride            # [H, W, 1, 2]
        centre = deltas[..., :2] * size + grid
        half = 0.5 * size * torch.exp(deltas[..., 2:])
        boxes = torch.cat([centre - half, centre + half], -1)
        return boxes.reshape(N, -1, 4), scores
