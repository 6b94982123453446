# Weighted ridge regression in closed form with DTensor: rows are sharded, moments come out partial.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

LAMBDA = 0.3


def sequential():
    def fit_predict(x, y, weight):
        xw = x * weight[:, None]
        moments = xw.T @ x + LAMBDA * torch.eye(x.shape[1])
        beta = torch.linalg.solve(moments, xw.T @ y)
        residual = y - x @ beta
        return {"beta": beta, "residual": residual, "sse": (weight[:, None] * residual.square()).sum(0)}
    return fit_predict


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))

    def fit_predict(x, y, weight):
        x, y, weight = (DTensor.from_local(t, mesh, [Shard(0)], run_check=False) for t in (x, y, weight))
        xw = x * weight.unsqueeze(1)
        gram = (xw.T @ x).redistribute(mesh, [Replicate()]).to_local()
        rhs = (xw.T @ y).redistribute(mesh, [Replicate()]).to_local()
        beta = torch.linalg.solve(gram + LAMBDA * torch.eye(gram.shape[0]), rhs)
        everywhere = DTensor.from_local(beta, mesh, [Replicate()], run_check=False)
        residual = y - x @ everywhere
        sse = (weight.unsqueeze(1) * residual.square()).sum(0)
        return {"beta": beta, "residual": residual.to_local(), "sse": sse.full_tensor()}
    return fit_predict


def inputs():
    return {"x": torch.randn(12, 3), "y": torch.randn(12, 2), "weight": torch.rand(12) + 0.5}


world_size = 3
relations = {"x": "shard(0)", "y": "shard(0)", "weight": "shard(0)"}
expected = {"residual": "shard(0)"}
TRUTH = "refines"
