# EQUAL: Segmentation loss: sigmoid focal (torchvision's formula) + dice vs logsigmoid form and einsum sums
import torch
import torch.nn.functional as F

ALPHA, GAMMA = 0.25, 2


def left(logits, target):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p_t = p * target + (1 - p) * (1 - target)
    focal = ce * ((1 - p_t) ** GAMMA)
    alpha_t = ALPHA * target + (1 - ALPHA) * (1 - target)
    focal = (alpha_t * focal).mean()
    pf, tf = p.flatten(1), target.flatten(1)
    dice = 1 - (2 * (pf * tf).sum(1) + 1) / (pf.sum(1) + tf.sum(1) + 1)
    return focal + dice.mean()


def right(logits, target):
    # target is 0/1
    pos = target > 0.5
    z = torch.where(pos, logits, -logits)
    log_pt = F.logsigmoid(z)
    w = torch.where(pos, ALPHA, 1 - ALPHA)
    focal = -(w * torch.sigmoid(-z).square() * log_pt).sum() / logits.numel()
    p = logits.sigmoid()
    inter = torch.einsum("bchw,bchw->b", p, target)
    total = torch.einsum("bchw->b", p + target)
    dice = (2 * inter + 1) / (total + 1)
    return focal + 1 - dice.mean()


def inputs():
    return torch.randn(2, 1, 4, 4), (torch.rand(2, 1, 4, 4) > 0.5).to(torch.get_default_dtype())
