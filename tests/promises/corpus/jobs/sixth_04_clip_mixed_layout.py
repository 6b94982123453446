"""Clip by global norm when some gradients are cut over the tensor parallel ranks and others are everywhere.
The gradients are given, as the optimizer would see them."""
import torch
import torch.distributed as dist

world_size = 4
relations = {"g_up": "shard(0)", "g_down": "shard(1)"}
expected = {"up": "shard(0)", "down": "shard(1)"}
MAX_NORM = 1.0


def sequential():
    def clip(g_up, g_down, g_norm):
        total = torch.sqrt(g_up.pow(2).sum() + g_down.pow(2).sum() + g_norm.pow(2).sum())
        c = (MAX_NORM / (total + 1e-6)).clamp(max=1.0)
        return {"up": g_up * c, "down": g_down * c, "norm": g_norm * c, "total": total}
    return clip


def distributed(rank, world_size):
    def clip(g_up, g_down, g_norm):
        squares = torch.stack([g.pow(2).sum() for g in (g_up, g_down, g_norm)]).sum()
        dist.all_reduce(squares)
        total = squares.sqrt()
        c = (MAX_NORM / (total + 1e-6)).clamp(max=1.0)
        return {"up": g_up * c, "down": g_down * c, "norm": g_norm * c, "total": total}
    return clip


def inputs():
    torch.manual_seed(6)
    return {"g_up": torch.randn(8, 3), "g_down": torch.randn(3, 8), "g_norm": torch.randn(3)}


TRUTH = "differs"
