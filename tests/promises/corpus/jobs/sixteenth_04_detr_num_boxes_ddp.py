"""One training step of a DETR head under DDP: focal, L1 and GIoU losses divided by the number of boxes over all ranks, clipping, AdamW; losses for the log are averaged."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

CLASSES, DIM = 3, 8


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.class_embed = nn.Linear(DIM, CLASSES)
        self.bbox_embed = nn.Sequential(nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, 4))

    def forward(self, queries):
        return self.class_embed(queries), self.bbox_embed(queries).sigmoid()


def to_corners(box):
    cx, cy, w, h = box.unbind(-1)
    return cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2


def giou(a, b):
    ax0, ay0, ax1, ay1 = to_corners(a)
    bx0, by0, bx1, by1 = to_corners(b)
    inter = (torch.minimum(ax1, bx1) - torch.maximum(ax0, bx0)).clamp(min=0) * \
            (torch.minimum(ay1, by1) - torch.maximum(ay0, by0)).clamp(min=0)
    union = (ax1 - ax0) * (ay1 - ay0) + (bx1 - bx0) * (by1 - by0) - inter
    hull = (torch.maximum(ax1, bx1) - torch.minimum(ax0, bx0)) * (torch.maximum(ay1, by1) - torch.minimum(ay0, by0))
    return inter / union - (hull - union) / hull


def focal(logits, onehot, alpha=0.25):
    p = logits.sigmoid()
    ce = F.binary_cross_entropy_with_logits(logits, onehot, reduction="none")
    p_t = p * onehot + (1 - p) * (1 - onehot)
    return ((alpha * onehot + (1 - alpha) * (1 - onehot)) * ce * (1 - p_t) ** 2).sum()


class Trainer(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2, weight_decay=1e-2)

    def forward(self, queries, labels, boxes):
        """labels: the class of the box that was matched to a query, or CLASSES for none."""
        matched = (labels < CLASSES).to(queries.dtype)
        num_boxes = matched.sum()
        dist.all_reduce(num_boxes)
        num_boxes = num_boxes.clamp(min=1) / dist.get_world_size()

        logits, predicted = self.model(queries)
        onehot = F.one_hot(labels, CLASSES + 1)[..., :CLASSES].to(queries.dtype)
        losses = {
            "loss_ce": focal(logits, onehot) / num_boxes,
            "loss_bbox": (F.l1_loss(predicted, boxes, reduction="none").sum(-1) * matched).sum() / num_boxes,
            "loss_giou": ((1 - giou(predicted, boxes)) * matched).sum() / num_boxes,
        }
        self.optimizer.zero_grad()
        (2 * losses["loss_ce"] + 5 * losses["loss_bbox"] + 2 * losses["loss_giou"]).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 0.1)
        self.optimizer.step()

        logged = torch.stack([v.detach() for v in losses.values()])
        dist.all_reduce(logged)
        return dict(zip(losses, logged / dist.get_world_size()))


sequential = lambda: Trainer(Head())


def distributed(rank, world_size):
    return Trainer(DDP(Head()))


def inputs():
    labels = torch.tensor([[0, 3, 2, 3, 1], [3, 3, 3, 1, 3], [2, 0, 3, 1, 1], [3, 0, 3, 3, 3]])
    boxes = torch.cat([0.3 + 0.4 * torch.rand(4, 5, 2), 0.1 + 0.3 * torch.rand(4, 5, 2)], dim=-1)
    return {"queries": torch.randn(4, 5, DIM), "labels": labels, "boxes": boxes}


world_size = 2
relations = {name: "shard(0)" for name in ("queries", "labels", "boxes")}

TRUTH = "refines"
