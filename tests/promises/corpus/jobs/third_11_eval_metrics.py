import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'accuracy, confusion matrix, RMSE and largest error of an evaluation split over three ranks'
world_size = 3

CLASSES = 4


def metrics(logits, target, scores, truth):
    pred = logits.argmax(1)
    pairs = target * CLASSES + pred
    confusion = torch.zeros(CLASSES * CLASSES, dtype=torch.long).scatter_add_(0, pairs, torch.ones_like(pairs))
    diff = scores - truth
    return {
        "accuracy": (pred == target).to(scores.dtype).mean(),
        "confusion": confusion.view(CLASSES, CLASSES),
        "rmse": diff.square().mean().sqrt(),
        "worst": diff.abs().max(),
    }


def sequential():
    return metrics


def distributed(rank, world_size):
    def run(logits, target, scores, truth):
        pred = logits.argmax(1)
        pairs = target * CLASSES + pred
        confusion = torch.zeros(CLASSES * CLASSES, dtype=torch.long).scatter_add_(0, pairs, torch.ones_like(pairs))
        diff = scores - truth
        sums = torch.stack([
            (pred == target).to(scores.dtype).sum(),
            diff.square().sum(),
            torch.tensor(float(len(target)), dtype=scores.dtype),
        ])
        worst = diff.abs().max()
        dist.all_reduce(sums)
        dist.all_reduce(confusion)
        dist.all_reduce(worst, op=dist.ReduceOp.MAX)
        return {
            "accuracy": sums[0] / sums[2],
            "confusion": confusion.view(CLASSES, CLASSES),
            "rmse": torch.sqrt(sums[1] / sums[2]),
            "worst": worst,
        }

    return run


def inputs():
    torch.manual_seed(0)
    n = 12
    return torch.randn(n, CLASSES), torch.randint(0, CLASSES, (n,)), torch.randn(n), torch.randn(n)


relations = {"logits": "shard(0)", "target": "shard(0)", "scores": "shard(0)", "truth": "shard(0)"}
