"""The same with rotations by cross products, translation taken out, and homogeneous intrinsics."""
import torch


def rotate(q, v):
    """v + 2w (u × v) + 2 u × (u × v) for unit quaternions (w, u)."""
    w, u = q[..., :1], q[..., 1:]
    u, v = torch.broadcast_tensors(u, v)
    once = 2 * torch.linalg.cross(u, v)
    return v + w * once + torch.linalg.cross(u, once)


def by_cross(points, quaternions, centres, intrinsics):
    unit = quaternions / quaternions.norm(dim=-1, keepdim=True)
    shift = rotate(unit, centres)
    local = rotate(unit[:, None], points.unsqueeze(0)) - shift[:, None]
    x, y, z = local.unbind(-1)
    depth = z.abs() + 0.1
    x, y = x / depth, y / depth
    r2 = x.square() + y.square()
    fx, fy, cx, cy, k1, k2 = intrinsics.T.unsqueeze(-1)
    bend = 1 + r2 * (k1 + r2 * k2)
    return torch.stack((fx * x * bend + cx, fy * y * bend + cy), dim=-1), depth
