# EQUAL
import torch


def quaternion_to_matrix(quaternions):
    r, i, j, k = torch.unbind(quaternions, -1)
    two_s = 2.0 / (quaternions * quaternions).sum(-1)
    o = torch.stack(
        (
            1 - two_s * (j * j + k * k),
            two_s * (i * j - k * r),
            two_s * (i * k + j * r),
            two_s * (i * j + k * r),
            1 - two_s * (i * i + k * k),
            two_s * (j * k - i * r),
            two_s * (i * k - j * r),
            two_s * (j * k + i * r),
            1 - two_s * (i * i + j * j),
        ),
        -1,
    )
    return o.reshape(quaternions.shape[:-1] + (3, 3))


def left(quat, points):
    return torch.einsum("bij,bnj->bni", quaternion_to_matrix(quat), points)


def right(quat, points):
    unit = quat / torch.linalg.vector_norm(quat, dim=-1, keepdim=True)
    w, axis = unit[:, None, :1], unit[:, None, 1:].expand_as(points)
    t = 2 * torch.cross(axis, points, dim=-1)
    return points + w * t + torch.cross(axis, t, dim=-1)


def inputs():
    gen = torch.Generator().manual_seed(360)
    return torch.randn(3, 4, generator=gen), torch.randn(3, 5, 3, generator=gen)
