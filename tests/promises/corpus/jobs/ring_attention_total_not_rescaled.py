import torch
import torch.distributed as dist

TRUTH = "does not refine"
WHY = 'the running total is not rescaled when the maximum grows'
world_size = 3


def sequential():
    def attend(q, k, v):
        return {"y": (q @ k.t() / q.shape[-1] ** 0.5).softmax(-1) @ v}

    return attend


def distributed(rank, world_size):
    after, before = (rank + 1) % world_size, (rank - 1) % world_size

    def attend(q, k, v):
        kv = torch.stack([k, v])
        top = total = acc = None
        for step in range(world_size):
            if step < world_size - 1:
                incoming = torch.empty_like(kv)
                requests = [dist.isend(kv, after), dist.irecv(incoming, before)]
            scores = q @ kv[0].t() / q.shape[-1] ** 0.5
            here = scores.amax(-1, keepdim=True)
            if step == 0:
                top = here
                weights = (scores - top).exp()
                total, acc = weights.sum(-1, keepdim=True), weights @ kv[1]
            else:
                new = torch.maximum(top, here)
                weights = (scores - new).exp()
                total = total + weights.sum(-1, keepdim=True)
                acc = (top - new).exp() * acc + weights @ kv[1]
                top = new
            if step < world_size - 1:
                for request in requests:
                    request.wait()
                kv = incoming
        return {"y": acc / total}

    return attend


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 4))


relations = {"q": "shard(0)", "k": "shard(0)", "v": "shard(0)"}
expected = {"y": "shard(0)"}
