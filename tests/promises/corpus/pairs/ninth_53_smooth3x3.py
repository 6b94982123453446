# DIFFERENT
import torch
import torch.nn.functional as F


def left(image):
    return F.avg_pool2d(image, 3, stride=1, padding=1)


def right(image):
    # box blur: sum of the neighbours there are over their number
    c = image.shape[1]
    box = torch.ones(c, 1, 3, 3, dtype=image.dtype)
    total = F.conv2d(image, box, padding=1, groups=c)
    count = F.conv2d(torch.ones_like(image), box, padding=1, groups=c)
    return total / count


inputs = (torch.rand(2, 3, 6, 5, generator=torch.Generator().manual_seed(4)),)
