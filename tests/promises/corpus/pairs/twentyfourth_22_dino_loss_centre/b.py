"""DINO's loss in one einsum, Lightning style: crops stacked, the diagonal taken off, the centre updated in place."""
import torch
from torch import nn


class StackedDINOLoss(nn.Module):
    def __init__(self, out_dim=7, crops=5, sharpen=0.04, temperature=0.1, momentum=0.9):
        super().__init__()
        self.crops, self.sharpen, self.temperature, self.momentum = crops, sharpen, temperature, momentum
        self.register_buffer("center", torch.zeros(1, out_dim))

    def forward(self, student, teacher):
        s = student.unflatten(0, (self.crops, -1)) / self.temperature
        t = ((teacher.detach() - self.center) / self.sharpen).softmax(dim=-1).unflatten(0, (2, -1))

        # cross-entropy of a pair = logsumexp(s) − t · s, since t sums to one
        agreement = torch.einsum("tbk,sbk->ts", t, s) / s.shape[1]
        normaliser = s.logsumexp(dim=-1).mean(dim=1)
        pairs = normaliser[None, :] - agreement
        loss = (pairs.sum() - pairs.diagonal().sum()) / (pairs.numel() - 2)

        with torch.no_grad():
            self.center.lerp_(teacher.mean(dim=0, keepdim=True), 1 - self.momentum)
        return loss
