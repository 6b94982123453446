# Pinhole camera with two radial coefficients: OpenCV's order of operations against the matrix form.
import torch


def left(points, R, t, focal, centre, dist):
    n = points.shape[0]
    Rt = torch.cat([R, t.reshape(3, 1)], dim=1)                                   # 3 x 4
    hom = torch.cat([points, torch.ones(n, 1, dtype=points.dtype)], dim=1)
    cam = hom @ Rt.T
    depth = cam[:, 2:].clamp(min=0.1)
    xy = cam[:, :2] / depth
    r2 = (xy ** 2).sum(1, keepdim=True)
    xy = xy * (1 + dist[0] * r2 + dist[1] * r2 ** 2)
    K = torch.zeros(3, 3, dtype=points.dtype)
    K[0, 0], K[1, 1], K[2, 2] = focal[0], focal[1], 1.0
    K[:2, 2] = centre
    pix = torch.cat([xy, torch.ones_like(depth)], 1) @ K.T
    return pix[:, :2] / pix[:, 2:], depth[:, 0].clone()


def right(points, R, t, focal, centre, dist):
    X, Y, Z = points.unbind(-1)
    xc = R[0, 0] * X + R[0, 1] * Y + R[0, 2] * Z + t[0]
    yc = R[1, 0] * X + R[1, 1] * Y + R[1, 2] * Z + t[1]
    zc = torch.clamp(R[2, 0] * X + R[2, 1] * Y + R[2, 2] * Z + t[2], min=0.1)
    x, y = xc / zc, yc / zc
    r2 = x * x + y * y
    k1, k2 = dist
    radial = 1 + r2 * (k1 + r2 * k2)
    u = focal[0] * x * radial + centre[0]
    v = focal[1] * y * radial + centre[1]
    return torch.stack((u, v), dim=-1), zc


def inputs():
    q, _ = torch.linalg.qr(torch.randn(3, 3))
    return (torch.randn(7, 3), q, torch.tensor([0.1, -0.2, 3.0]), torch.tensor([1.5, 1.4]), torch.tensor([0.3, 0.2]), torch.tensor([0.05, -0.01]))
