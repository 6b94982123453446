import torch


def program(param, grad, exp_avg, exp_avg_sq):
    lr, b1, b2, eps, t = 1e-2, 0.9, 0.999, 1e-5, 3
    m = b1 * exp_avg + (1 - b1) * grad
    v = b2 * exp_avg_sq + (1 - b2) * grad**2
    lr_t = lr * (1 - b2**t) ** 0.5 / (1 - b1**t)
    return param - lr_t * m / (torch.sqrt(v) + eps), m, v
