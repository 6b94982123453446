"""nnU-Net's batch dice under DDP with ddp=False: each rank takes the dice of its own part of the batch, and DDP averages these."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class SoftDiceLoss(nn.Module):
    def __init__(self, batch_dice=True, do_bg=False, smooth=1.0):
        super().__init__()
        self.batch_dice, self.do_bg, self.smooth = batch_dice, do_bg, smooth

    def forward(self, probs, onehot):
        axes = (2, 3)
        intersect = (probs * onehot).sum(axes)
        predicted, truth = probs.sum(axes), onehot.sum(axes)
        if self.batch_dice:
            intersect, predicted, truth = intersect.sum(0), predicted.sum(0), truth.sum(0)
        dice = (2 * intersect + self.smooth) / (predicted + truth + self.smooth).clamp(min=1e-8)
        if not self.do_bg:
            dice = dice[..., 1:]
        return -dice.mean()


class SmallUNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.down1 = nn.Conv2d(1, 4, 3, padding=1)
        self.down2 = nn.Conv2d(4, 6, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(6, 4, 2, stride=2)
        self.head = nn.Conv2d(8, classes, 1)

    def forward(self, x):
        skip = F.leaky_relu(self.down1(x), 0.01)
        deep = F.leaky_relu(self.down2(skip), 0.01)
        return self.head(torch.cat([skip, self.up(deep)], dim=1))


class DiceAndCE(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network, self.dice = network, SoftDiceLoss()

    def forward(self, image, target):
        logits = self.network(image)
        onehot = F.one_hot(target, logits.shape[1]).movedim(-1, 1).to(logits.dtype)
        return F.cross_entropy(logits, target) + self.dice(logits.softmax(1), onehot)


def sequential():
    return DiceAndCE(SmallUNet())


def distributed(rank, world_size):
    return DiceAndCE(DDP(SmallUNet()))


def inputs():
    image = torch.randn(4, 1, 6, 6)
    target = (image[:, 0] > 0.3).long()
    target[2:, :3] = 2                                  # the second half of the batch has another mix of classes
    return {"image": image, "target": target}


world_size = 2
backward = True
relations = {"image": "shard(0)", "target": "shard(0)"}
expected = {"0": "partial(avg)"}

TRUTH = "differs"
