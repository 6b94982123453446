"""A step of an n-body simulation: softened accelerations of all pairs in one kernel, kick and drift in another."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def accelerations_kernel(pos_ptr, mass_ptr, acc_ptr, n, eps2, BLOCK_I: tl.constexpr, BLOCK_J: tl.constexpr):
    i = tl.program_id(0) * BLOCK_I + tl.arange(0, BLOCK_I)
    mi = i < n
    xi = tl.load(pos_ptr + i * 3, mask=mi, other=0.0)
    yi = tl.load(pos_ptr + i * 3 + 1, mask=mi, other=0.0)
    zi = tl.load(pos_ptr + i * 3 + 2, mask=mi, other=0.0)
    ax = tl.zeros([BLOCK_I], dtype=tl.float32)
    ay = tl.zeros([BLOCK_I], dtype=tl.float32)
    az = tl.zeros([BLOCK_I], dtype=tl.float32)
    for start in range(0, n, BLOCK_J):
        j = start + tl.arange(0, BLOCK_J)
        mj = j < n
        dx = tl.load(pos_ptr + j * 3, mask=mj, other=0.0)[None, :] - xi[:, None]
        dy = tl.load(pos_ptr + j * 3 + 1, mask=mj, other=0.0)[None, :] - yi[:, None]
        dz = tl.load(pos_ptr + j * 3 + 2, mask=mj, other=0.0)[None, :] - zi[:, None]
        m = tl.load(mass_ptr + j, mask=mj, other=0.0)
        inv = tl.rsqrt(dx * dx + dy * dy + dz * dz + eps2)
        w = m[None, :] * inv * inv * inv
        ax += tl.sum(w * dx, axis=1)
        ay += tl.sum(w * dy, axis=1)
        az += tl.sum(w * dz, axis=1)
    tl.store(acc_ptr + i * 3, ax, mask=mi)
    tl.store(acc_ptr + i * 3 + 1, ay, mask=mi)
    tl.store(acc_ptr + i * 3 + 2, az, mask=mi)


@triton.jit
def kick_drift_kernel(pos_ptr, vel_ptr, acc_ptr, dt, numel, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    v = tl.load(vel_ptr + offs, mask=mask) + dt * tl.load(acc_ptr + offs, mask=mask)
    p = tl.load(pos_ptr + offs, mask=mask) + dt * v
    tl.store(vel_ptr + offs, v, mask=mask)
    tl.store(pos_ptr + offs, p, mask=mask)


def launch():
    pos = torch.randn(150, 3)
    vel = torch.randn(150, 3) * 0.1
    mass = torch.rand(150) + 0.5
    n = pos.shape[0]
    acc = torch.empty_like(pos)
    accelerations_kernel[(triton.cdiv(n, 64),)](pos, mass, acc, n, 0.01, BLOCK_I=64, BLOCK_J=32)
    kick_drift_kernel[(triton.cdiv(n * 3, 128),)](pos, vel, acc, 0.05, n * 3, BLOCK=128)
    return pos, vel


def reference(pos, vel, mass):
    d = pos[None, :, :] - pos[:, None, :]
    inv = torch.rsqrt(d.square().sum(-1) + 0.01)
    acc = (mass[None, :, None] * inv[..., None] ** 3 * d).sum(1)
    new_vel = vel + 0.05 * acc
    return pos + 0.05 * new_vel, new_vel
