import torch


def make(seed=0, boxes=6):
    g = torch.Generator().manual_seed(seed)

    def some():
        return torch.cat([torch.rand(boxes, 2, generator=g), 0.2 + torch.rand(boxes, 2, generator=g)], dim=1)

    return some(), some()


inputs = make()
