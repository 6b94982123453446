"""Poisson's equation on a periodic square by Fourier transforms; slabs of rows, transposed by all-to-all and back."""
import torch
import torch.distributed as dist

N = 8


def eigenvalues():
    k = torch.fft.fftfreq(N) * N
    k2 = k[:, None] ** 2 + k[None, :] ** 2
    k2[0, 0] = 1.0
    return k2


def solve(f):
    spectrum = -torch.fft.fft2(f) / eigenvalues()
    keep = torch.ones(N, N)
    keep[0, 0] = 0.0                                          # the mean is free: none
    return torch.fft.ifft2(spectrum * keep).real


def sequential():
    return solve


def distributed(rank, world_size):
    rows = N // world_size

    def transpose(z):
        """[rows, N] of a matrix to [rows, N] of its transpose."""
        blocks = z.t().reshape(world_size, rows, rows)                     # for rank r: its columns by our rows
        sent = torch.view_as_real(blocks).contiguous()
        got = torch.empty_like(sent)
        dist.all_to_all_single(got, sent)
        return torch.view_as_complex(got).permute(1, 0, 2).reshape(rows, N)

    def solve_slab(f):
        z = torch.fft.fft(f, dim=1)
        z = torch.fft.fft(transpose(z), dim=1)                             # rows are now wave numbers of dim 1
        first = rank * rows
        z = -z / eigenvalues().t()[first : first + rows]
        if rank == 0:
            z = z * (torch.arange(rows * N).view(rows, N) > 0)
        z = torch.fft.ifft(z, dim=1)
        return torch.fft.ifft(transpose(z), dim=1).real

    return solve_slab


def inputs():
    return torch.randn(N, N)


world_size = 4
relations = {"f": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "refines"
