# EQUAL. segmentation loss: torchvision's sigmoid_focal_loss + soft dice, vs log-sigmoid focal and TP/FP/FN dice
import torch
import torch.nn.functional as F

ALPHA, GAMMA = 0.25, 2


def left(inputs, targets):
    p = torch.sigmoid(inputs)
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** GAMMA)
    alpha_t = ALPHA * targets + (1 - ALPHA) * (1 - targets)
    focal = (alpha_t * loss).mean()
    pf, tf = p.flatten(1), targets.flatten(1)
    dice = 1 - (2 * (pf * tf).sum(-1) + 1) / (pf.sum(-1) + tf.sum(-1) + 1)
    return focal, dice.mean()


def right(inputs, targets):
    lp, ln = F.logsigmoid(inputs), F.logsigmoid(-inputs)
    # targets are 0/1 but soft ones must work as well
    pt = targets * lp.exp() + (1 - targets) * ln.exp()
    f = -(targets * lp + (1 - targets) * ln) * torch.square(1 - pt)
    focal = (f * torch.lerp(torch.tensor(1 - ALPHA, dtype=f.dtype), torch.tensor(ALPHA, dtype=f.dtype), targets)).mean()
    p = inputs.sigmoid()
    tp = torch.einsum("nchw,nchw->n", p, targets)
    fp = torch.einsum("nchw,nchw->n", p, 1 - targets)
    fn = torch.einsum("nchw,nchw->n", 1 - p, targets)
    return focal, (1 - (2 * tp + 1) / (2 * tp + fp + fn + 1)).mean()


torch.manual_seed(0)
inputs = (torch.randn(2, 1, 4, 5), torch.rand(2, 1, 4, 5))
