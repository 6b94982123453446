import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'token-weighted perplexity and loss of masked sequences: summed loss and token count all-reduced together'
world_size = 4


def token_losses(logits, labels):
    return F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")


def perplexity(logits, labels, mask):
    nll = token_losses(logits, labels)
    loss = (nll * mask).sum() / mask.sum()
    return {"loss": loss, "ppl": loss.exp()}


def sequential():
    return perplexity


def distributed(rank, world_size):
    def run(logits, labels, mask):
        nll = token_losses(logits, labels)
        both = torch.stack([(nll * mask).sum(), mask.sum()])
        dist.all_reduce(both)
        loss = both[0] / both[1]
        return {"loss": loss, "ppl": torch.exp(loss)}

    return run


def inputs():
    torch.manual_seed(0)
    mask = torch.ones(8, 5)
    for row, length in enumerate([5, 2, 4, 4, 1, 3, 5, 3]):
        mask[row, length:] = 0
    return torch.randn(8, 5, 9), torch.randint(0, 9, (8, 5)), mask


relations = {"logits": "shard(0)", "labels": "shard(0)", "mask": "shard(0)"}
