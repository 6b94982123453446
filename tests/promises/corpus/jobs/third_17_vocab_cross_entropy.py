import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'vocabulary-parallel cross entropy as a custom autograd.Function, its gradient returned in shards'
world_size = 4

V = 20


class VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, start):
        biggest = logits.max(-1).values
        dist.all_reduce(biggest, op=dist.ReduceOp.MAX)
        shifted = logits - biggest.unsqueeze(-1)
        local = target - start
        absent = (local < 0) | (local >= logits.shape[-1])
        local = local.masked_fill(absent, 0)
        picked = shifted.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(absent, 0.0)
        dist.all_reduce(picked)
        exp = shifted.exp()
        denom = exp.sum(-1)
        dist.all_reduce(denom)
        ctx.save_for_backward(exp / denom.unsqueeze(-1), local, absent)
        return denom.log() - picked

    @staticmethod
    def backward(ctx, grad):
        softmax, local, absent = ctx.saved_tensors
        minus = (~absent).to(softmax.dtype).unsqueeze(-1)
        g = softmax.scatter_add(-1, local.unsqueeze(-1), -minus)
        return g * grad.unsqueeze(-1), None, None


def reference(logits, target):
    logits = logits.detach().requires_grad_()
    losses = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(target.shape)
    loss = losses.mean()
    loss.backward()
    return {"loss": loss.detach(), "losses": losses.detach(), "dlogits": logits.grad}


def sequential():
    return reference


def distributed(rank, world_size):
    def run(logits, target):
        logits = logits.detach().requires_grad_()
        losses = VocabParallelCrossEntropy.apply(logits, target, rank * (V // world_size))
        loss = losses.mean()
        loss.backward()
        return {"loss": loss.detach(), "losses": losses.detach(), "dlogits": logits.grad}

    return run


def inputs():
    torch.manual_seed(2)
    return {"logits": torch.randn(2, 3, V), "target": torch.randint(0, V, (2, 3))}


relations = {"logits": "shard(2)"}
expected = {"dlogits": "shard(2)"}
