# DINO: the teacher's outputs are centred by a running mean over the global batch.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class DINOLoss(nn.Module):
    def __init__(self, out_dim=6, student_temp=0.1, teacher_temp=0.04, momentum=0.9):
        super().__init__()
        self.student_temp, self.teacher_temp, self.momentum = student_temp, teacher_temp, momentum
        self.register_buffer("center", torch.randn(1, out_dim) * 0.1)

    def forward(self, student, teacher):
        p = F.softmax((teacher - self.center) / self.teacher_temp, dim=-1)
        loss = -(p * F.log_softmax(student / self.student_temp, dim=-1)).sum(-1).mean()
        self.update_center(teacher)
        return loss

    @torch.no_grad()
    def update_center(self, teacher):
        batch_center = teacher.mean(dim=0, keepdim=True)
        self.center.copy_(self.center * self.momentum + batch_center * (1 - self.momentum))


class DistributedDINOLoss(DINOLoss):
    def forward(self, student, teacher):
        loss = super().forward(student, teacher)
        dist.all_reduce(loss)
        return loss / dist.get_world_size()

    @torch.no_grad()
    def update_center(self, teacher):
        batch_center = torch.sum(teacher, dim=0, keepdim=True)
        dist.all_reduce(batch_center)
        batch_center = batch_center / len(teacher)
        self.center.copy_(self.center * self.momentum + batch_center * (1 - self.momentum))


def sequential():
    return DINOLoss()


def distributed(rank, world_size):
    return DistributedDINOLoss()


def inputs():
    return torch.randn(8, 6), torch.randn(8, 6)


world_size = 2
relations = {"student": "shard(0)", "teacher": "shard(0)"}
TRUTH = "differs"
