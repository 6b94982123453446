"""Mean, standard deviation and skewness of each feature; the rows live on four ranks."""
import torch
import torch.distributed as dist

world_size = 4
relations = {"x": "shard(0)"}


def sequential():
    def stats(x):
        mean = x.mean(0)
        centred = x - mean
        std = centred.pow(2).mean(0).sqrt()
        skew = centred.pow(3).mean(0) / std.pow(3)
        return {"mean": mean, "std": std, "skew": skew}

    return stats


def distributed(rank, world_size):
    def stats(x):
        total = torch.tensor(float(x.shape[0]))
        dist.all_reduce(total)

        def mean_of(t):
            s = t.sum(0)
            dist.all_reduce(s)
            return s / total

        mean = mean_of(x)
        centred = x - mean
        std = torch.sqrt(mean_of(centred * centred))
        skew = mean_of(centred * centred * centred) / (std * std * std)
        return {"mean": mean, "std": std, "skew": skew}

    return stats


def inputs():
    torch.manual_seed(3)
    return {"x": torch.randn(12, 5)}


TRUTH = "refines"
