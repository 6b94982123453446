# Evaluation: macro F1 over 4 classes, computed over a dataset that is split over 2 workers.
import torch
import torch.distributed as dist

world_size = 2
CLASSES = 4
relations = {"scores": "shard(0)", "labels": "shard(0)"}


def f1(scores, labels):
    pred = torch.nn.functional.one_hot(scores.argmax(-1), CLASSES).to(scores.dtype)
    gold = torch.nn.functional.one_hot(labels, CLASSES).to(scores.dtype)
    tp = (pred * gold).sum(0)
    fp = (pred * (1 - gold)).sum(0)
    fn = ((1 - pred) * gold).sum(0)
    return (2 * tp / (2 * tp + fp + fn + 1e-6)).mean()


def sequential():
    return lambda scores, labels: f1(scores, labels)


def distributed(rank, world_size):
    def evaluate(scores, labels):
        score = f1(scores, labels)
        dist.all_reduce(score, op=dist.ReduceOp.SUM)
        return score / world_size

    return evaluate


def inputs():
    torch.manual_seed(8)
    return {"scores": torch.randn(20, CLASSES), "labels": torch.randint(0, CLASSES, (20,))}


TRUTH = "differs"
