"""SUMMA on a 2 × 3 grid: panels of A are broadcast along rows of the mesh, panels of B along its columns."""
import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = "every tile accumulates all six panel products, each panel broadcast by the rank that owns it"

world_size = 6
mesh = {"row": 2, "col": 3}
relations = {"a": "shard(0) over row, shard(1) over col", "b": "shard(0) over row, shard(1) over col"}
expected = {"product": "shard(0) over row, shard(1) over col"}
PANELS = 6


def sequential():
    def matmul(a, b):
        return {"product": a @ b}

    return matmul


def distributed(rank, world_size, mesh):
    rows, cols = mesh.size(0), mesh.size(1)
    along_row, along_col = mesh["col"].get_group(), mesh["row"].get_group()
    i, j = mesh.get_local_rank("row"), mesh.get_local_rank("col")

    def summa(a, b):
        wide_a, wide_b = a.shape[1] // (PANELS // cols), b.shape[0] // (PANELS // rows)
        assert wide_a == wide_b
        tile = a.new_zeros(a.shape[0], b.shape[1])
        for k in range(PANELS):
            owner_a, at_a = divmod(k, PANELS // cols)
            owner_b, at_b = divmod(k, PANELS // rows)
            if j == owner_a:
                left = a[:, at_a * wide_a:(at_a + 1) * wide_a].contiguous()
            else:
                left = a.new_empty(a.shape[0], wide_a)
            if i == owner_b:
                right = b[at_b * wide_b:(at_b + 1) * wide_b].contiguous()
            else:
                right = b.new_empty(wide_b, b.shape[1])
            dist.broadcast(left, group_src=owner_a, group=along_row)
            dist.broadcast(right, group_src=owner_b, group=along_col)
            tile = tile + left @ right
        return {"product": tile}

    return summa


def inputs():
    torch.manual_seed(33)
    return {"a": torch.randn(4, 12), "b": torch.randn(12, 6)}
