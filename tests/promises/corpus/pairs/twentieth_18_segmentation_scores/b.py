"""The same by one-hot maps and an einsum, which also runs on accelerators without bincount."""
import torch
from torch.nn import functional as F

CLASSES = 4


def by_one_hot(logits, labels):
    guess_map = F.one_hot(logits.argmax(1), CLASSES).float()
    truth_map = (labels.unsqueeze(-1) == torch.arange(CLASSES)).float()
    matrix = torch.einsum("bhwi,bhwj->ij", truth_map, guess_map)
    known = truth_map.sum(-1, keepdim=True)
    guess_map = guess_map * known
    hit = (truth_map * guess_map).sum((0, 1, 2))
    truth, guess = truth_map.sum((0, 1, 2)), guess_map.sum((0, 1, 2))
    union = torch.maximum(truth_map, guess_map).sum((0, 1, 2))
    iou = hit / union.clamp(min=1)
    dice = 2 * hit / (truth + guess).clamp(min=1)
    accuracy = hit.sum() / known.sum().clamp(min=1)
    present = (truth > 0).float()
    mean = (iou * present).sum() / present.sum().clamp(min=1)
    return {"matrix": matrix, "iou": iou, "dice": dice, "miou": mean, "accuracy": accuracy}
