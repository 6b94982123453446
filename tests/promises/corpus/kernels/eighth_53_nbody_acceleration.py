import torch
import triton
import triton.language as tl


@triton.jit
def nbody_kernel(pos_ptr, mass_ptr, acc_ptr, n, eps2, BI: tl.constexpr, BJ: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    in_i = i < n
    xi = tl.load(pos_ptr + 3 * i, mask=in_i, other=0.0)
    yi = tl.load(pos_ptr + 3 * i + 1, mask=in_i, other=0.0)
    zi = tl.load(pos_ptr + 3 * i + 2, mask=in_i, other=0.0)
    ax = tl.zeros([BI], dtype=tl.float32)
    ay = tl.zeros([BI], dtype=tl.float32)
    az = tl.zeros([BI], dtype=tl.float32)
    for start in range(0, n, BJ):
        j = start + tl.arange(0, BJ)
        in_j = j < n
        dx = tl.load(pos_ptr + 3 * j, mask=in_j, other=0.0)[None, :] - xi[:, None]
        dy = tl.load(pos_ptr + 3 * j + 1, mask=in_j, other=0.0)[None, :] - yi[:, None]
        dz = tl.load(pos_ptr + 3 * j + 2, mask=in_j, other=0.0)[None, :] - zi[:, None]
        m = tl.load(mass_ptr + j, mask=in_j, other=0.0)
        inv = 1.0 / tl.sqrt(dx * dx + dy * dy + dz * dz + eps2)
        w = m[None, :] * inv * inv * inv
        ax += tl.sum(w * dx, axis=1)
        ay += tl.sum(w * dy, axis=1)
        az += tl.sum(w * dz, axis=1)
    tl.store(acc_ptr + 3 * i, ax, mask=in_i)
    tl.store(acc_ptr + 3 * i + 1, ay, mask=in_i)
    tl.store(acc_ptr + 3 * i + 2, az, mask=in_i)


def launch(n=40):
    pos = torch.randn(n, 3, device="cuda")
    mass = torch.rand(n, device="cuda")
    acc = torch.empty_like(pos)
    nbody_kernel[(triton.cdiv(n, 16),)](pos, mass, acc, n, 0.01, BI=16, BJ=16)
    return acc


def reference(pos, mass):
    d = pos[None, :, :] - pos[:, None, :]
    r2 = (d * d).sum(-1) + 0.01
    return (mass[None, :, None] * d / (r2 * torch.sqrt(r2))[..., None]).sum(dim=1)


TRUTH = "verified"
