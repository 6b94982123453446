import torch


def program(p, grad, exp_avg):
    lr, b1, b2, wd = 1e-4, 0.9, 0.99, 0.01
    direction = torch.sign(torch.lerp(grad, exp_avg, b1))
    new_p = p - lr * (direction + wd * p)
    new_m = torch.lerp(exp_avg, grad, 1 - b2)
    return new_p, new_m
