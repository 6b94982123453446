# In the manner of Apex: gradients are flattened into buckets in reverse order of the parameters, divided by
# a factor before the all-reduce and by the rest after it, to stay inside the range of half precision.
import torch
import torch.distributed as dist
from torch import nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(5, 7)
        self.mix = nn.Bilinear(7, 7, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        h = torch.relu(self.embed(x))
        return self.head(torch.tanh(self.mix(h, h)))


class FlatDistributedDataParallel(nn.Module):
    def __init__(self, module, message_size=40, gradient_predivide_factor=2.0):
        super().__init__()
        self.module = module
        self.message_size = message_size
        self.predivide = gradient_predivide_factor
        self.world_size = dist.get_world_size()

    def buckets(self):
        bucket, size = [], 0
        for p in reversed(list(self.module.parameters())):
            if p.grad is None:
                continue
            bucket.append(p.grad)
            size += p.grad.numel()
            if size >= self.message_size:
                yield bucket
                bucket, size = [], 0
        if bucket:
            yield bucket

    def reduce_gradients(self):
        for bucket in self.buckets():
            flat = _flatten_dense_tensors(bucket)
            flat.div_(self.predivide)
            dist.all_reduce(flat)
            flat.div_(self.world_size / self.predivide)
            for grad, synced in zip(bucket, _unflatten_dense_tensors(flat, bucket)):
                grad.copy_(synced)

    def forward(self, x):
        return self.module(x)


class Training(nn.Module):
    """Momentum-free SGD with weight decay, one step."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=1e-2)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        if hasattr(self.net, "reduce_gradients"):
            self.net.reduce_gradients()
        self.optimizer.step()
        return {"loss": loss.detach()}


def sequential():
    return Training(Net())


def distributed(rank, world_size):
    return Training(FlatDistributedDataParallel(Net()))


def inputs():
    return {"x": torch.randn(8, 5), "y": torch.randint(0, 3, (8,))}


world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"loss": "partial(avg)"}
TRUTH = "refines"
