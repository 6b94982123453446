# EQUAL
import torch
import torch.nn.functional as F

TEMPERATURE = 0.2


def left(view1, view2, labels):
    """Supervised contrastive loss (L_out) over two views, masks as in the reference."""
    features = torch.cat([F.normalize(view1, dim=1), F.normalize(view2, dim=1)], 0)
    labels = labels.repeat(2).view(-1, 1)
    mask = torch.eq(labels, labels.T).to(features.dtype)
    logits = features @ features.T / TEMPERATURE
    logits = logits - logits.max(dim=1, keepdim=True)[0].detach()
    logits_mask = 1 - torch.eye(features.shape[0], dtype=features.dtype)
    mask = mask * logits_mask
    exp_logits = torch.exp(logits) * logits_mask
    log_prob = logits - torch.log(exp_logits.sum(1, keepdim=True))
    mean_log_prob_pos = (mask * log_prob).sum(1) / mask.sum(1)
    return -mean_log_prob_pos.mean()


def right(view1, view2, labels):
    """As a cross-entropy against soft targets: uniform over the positives of each anchor."""
    z = F.normalize(torch.cat((view1, view2)), dim=-1)
    y = torch.cat((labels, labels))
    n = z.size(0)
    diagonal = torch.eye(n, dtype=torch.bool)
    sim = (z @ z.mT).div(TEMPERATURE).masked_fill(diagonal, -float("inf"))
    positive = (y.unsqueeze(1) == y.unsqueeze(0)) & ~diagonal
    target = positive / positive.sum(1, keepdim=True)
    loss = torch.logsumexp(sim, 1) - (target * sim.masked_fill(diagonal, 0.0)).sum(1)
    return loss.sum() / n


def inputs():
    return torch.randn(4, 6), torch.randn(4, 6), torch.tensor([0, 1, 0, 2])
