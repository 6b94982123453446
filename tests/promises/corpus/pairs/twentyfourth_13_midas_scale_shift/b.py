"""Align by covariance over variance, then the same two terms, on pixels that are valid on both ends."""
import torch


def align(prediction, target, valid):
    count = valid.sum(dim=(1, 2), keepdim=True)

    def centre(image):
        return image - torch.where(valid, image, 0).sum(dim=(1, 2), keepdim=True) / count

    p, t = centre(prediction), centre(target)
    covariance = torch.where(valid, p * t, 0).sum(dim=(1, 2), keepdim=True)
    variance = torch.where(valid, p.square(), 0).sum(dim=(1, 2), keepdim=True)
    return covariance / variance * p - t                   # residual after alignment


def slopes(residual, valid, axis):
    n = residual.shape[axis]
    both = valid.narrow(axis, 1, n - 1) & valid.narrow(axis, 0, n - 1)
    return torch.where(both, residual.diff(dim=axis).abs(), 0).sum()


def scale_invariant_depth_loss(prediction, target, valid):
    residual = align(prediction, target, valid)
    data = residual.square().mul(valid).sum() / (2 * valid.sum())
    smooth = 0.0
    for step in (1, 2):
        r, v = residual[:, ::step, ::step], valid[:, ::step, ::step]
        smooth = smooth + (slopes(r, v, 1) + slopes(r, v, 2)) / v.sum()
    return data + 0.5 * smooth
