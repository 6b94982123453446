import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'two steps of subspace power iteration on a Gram matrix, rows of the data over four ranks'
world_size = 4


def pca_step(data, basis):
    """data [n, d], basis [d, k]: centred covariance applied twice, columns normalised."""
    centred = data - data.mean(0, keepdim=True)
    for _ in range(2):
        basis = centred.T @ (centred @ basis) / (data.shape[0] - 1)
        basis = basis / basis.norm(dim=0, keepdim=True)
    return basis, centred.T @ centred / (data.shape[0] - 1)


def sequential():
    return pca_step


def distributed(rank, world_size):
    def step(data, basis):
        total = data.sum(0, keepdim=True)
        dist.all_reduce(total)
        n = data.shape[0] * world_size
        centred = data - total / n
        for _ in range(2):
            basis = centred.T @ (centred @ basis)
            dist.all_reduce(basis)
            basis = basis / (n - 1)
            basis = basis / basis.norm(dim=0, keepdim=True)
        gram = centred.T @ centred
        dist.all_reduce(gram)
        return basis, gram / (n - 1)

    return step


def inputs(rank=None, world_size=None):
    torch.manual_seed(3)
    data, basis = torch.randn(12, 5), torch.randn(5, 2)
    if rank is not None:                 # each rank loads its own rows
        data = data.chunk(world_size)[rank]
    return data, basis
