import torch


def left(quaternions, points):
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
    R = o.reshape(quaternions.shape[:-1] + (3, 3))
    return (R @ points.unsqueeze(-1)).squeeze(-1)


def right(quaternions, points):
    q = quaternions / quaternions.norm(dim=-1, keepdim=True)
    w, u = q[..., :1], q[..., 1:]
    t = 2 * torch.cross(u, points, dim=-1)
    return points + w * t + torch.cross(u, t, dim=-1)


inputs = (torch.randn(4, 4), torch.randn(4, 3))
