import torch
import torch.nn.functional as F

NUM_CLASSES = 4


def left(logits, labels):
    pred = logits.argmax(1)
    flat = labels.flatten() * NUM_CLASSES + pred.flatten()
    hist = torch.zeros(NUM_CLASSES**2).scatter_add_(0, flat, torch.ones(flat.shape))
    hist = hist.reshape(NUM_CLASSES, NUM_CLASSES)
    diag = hist.diagonal()
    iou = diag / (hist.sum(0) + hist.sum(1) - diag).clamp(min=1.0)
    return hist, iou.mean()


def right(logits, labels):
    classes = torch.arange(NUM_CLASSES)
    pred = torch.argmax(logits, dim=1, keepdim=True).movedim(1, -1).reshape(-1, 1)
    p = (pred == classes).float()
    t = F.one_hot(labels.reshape(-1), NUM_CLASSES).float()
    confusion = t.T @ p
    total = 0.0
    for c in range(NUM_CLASSES):
        inter = confusion[c, c]
        union = p[:, c].sum() + t[:, c].sum() - inter
        total = total + inter / torch.maximum(union, torch.tensor(1.0))
    return confusion, total / NUM_CLASSES


inputs = (torch.randn(2, NUM_CLASSES, 3, 3), torch.randint(0, NUM_CLASSES, (2, 3, 3)))
