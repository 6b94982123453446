"""Points into a camera whose pose is a quaternion: rotation matrix as in pytorch3d, then a pinhole with distortion."""
import torch


def quaternion_to_matrix(q):
    r, i, j, k = q.unbind(-1)
    two = 2.0 / (q * q).sum(-1)
    flat = torch.stack(
        (
            1 - two * (j * j + k * k), two * (i * j - k * r), two * (i * k + j * r),
            two * (i * j + k * r), 1 - two * (i * i + k * k), two * (j * k - i * r),
            two * (i * k - j * r), two * (j * k + i * r), 1 - two * (i * i + j * j),
        ),
        dim=-1,
    )
    return flat.reshape(q.shape[:-1] + (3, 3))


def by_matrix(points, quaternions, centres, intrinsics):
    """points [N, 3], quaternions [C, 4] (any length), centres [C, 3], intrinsics [C, 6] → pixels [C, N, 2]."""
    R = quaternion_to_matrix(quaternions)
    local = torch.einsum("cij,cnj->cni", R, points[None] - centres[:, None])
    depth = local[..., 2].abs() + 0.1
    xy = local[..., :2] / depth[..., None]
    r2 = (xy * xy).sum(-1, keepdim=True)
    k1, k2 = intrinsics[:, None, 4:5], intrinsics[:, None, 5:6]
    xy = xy * (1 + k1 * r2 + k2 * r2**2)
    pixels = xy * intrinsics[:, None, :2] + intrinsics[:, None, 2:4]
    return pixels, depth


def inputs():
    return torch.randn(5, 3), torch.randn(2, 4), torch.randn(2, 3), torch.randn(2, 6)
