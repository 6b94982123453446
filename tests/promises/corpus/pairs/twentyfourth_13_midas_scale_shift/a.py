"""MiDaS: the scale- and shift-invariant loss of monocular depth, with its gradient term over scales."""
import torch


def compute_scale_and_shift(prediction, target, mask):
    # system matrix: A = [[a_00, a_01], [a_10, a_11]]
    a_00 = torch.sum(mask * prediction * prediction, (1, 2))
    a_01 = torch.sum(mask * prediction, (1, 2))
    a_11 = torch.sum(mask, (1, 2))
    # right hand side: b = [b_0, b_1]
    b_0 = torch.sum(mask * prediction * target, (1, 2))
    b_1 = torch.sum(mask * target, (1, 2))
    det = a_00 * a_11 - a_01 * a_01
    x_0 = (a_11 * b_0 - a_01 * b_1) / det
    x_1 = (-a_01 * b_0 + a_00 * b_1) / det
    return x_0, x_1


def reduction_batch_based(image_loss, M):
    return torch.sum(image_loss) / torch.sum(M)


def mse_loss(prediction, target, mask):
    M = torch.sum(mask, (1, 2))
    res = prediction - target
    return reduction_batch_based(torch.sum(mask * res * res, (1, 2)), 2 * M)


def gradient_loss(prediction, target, mask):
    M = torch.sum(mask, (1, 2))
    diff = torch.mul(mask, prediction - target)
    grad_x = torch.abs(diff[:, :, 1:] - diff[:, :, :-1])
    grad_x = torch.mul(torch.mul(mask[:, :, 1:], mask[:, :, :-1]), grad_x)
    grad_y = torch.abs(diff[:, 1:, :] - diff[:, :-1, :])
    grad_y = torch.mul(torch.mul(mask[:, 1:, :], mask[:, :-1, :]), grad_y)
    return reduction_batch_based(torch.sum(grad_x, (1, 2)) + torch.sum(grad_y, (1, 2)), M)


def ssi_loss(prediction, target, valid, alpha=0.5, scales=2):
    mask = valid.to(prediction.dtype)
    scale, shift = compute_scale_and_shift(prediction, target, mask)
    ssi = scale.view(-1, 1, 1) * prediction + shift.view(-1, 1, 1)
    total = mse_loss(ssi, target, mask)
    for s in range(scales):
        step = pow(2, s)
        total = total + alpha * gradient_loss(ssi[:, ::step, ::step], target[:, ::step, ::step], mask[:, ::step, ::step])
    return total


def inputs():
    target = torch.randn(2, 5, 6)
    return 0.7 * target + 0.3 * torch.randn(2, 5, 6), target, torch.rand(2, 5, 6) > 0.25
