import torch


def program(p, grad, exp_avg):
    """One step of Lion (EvoLved Sign Momentum)."""
    lr, beta1, beta2, weight_decay = 1e-4, 0.9, 0.99, 0.01
    p = p.mul(1 - lr * weight_decay)
    update = exp_avg.clone().mul_(beta1).add_(grad, alpha=1 - beta1).sign_()
    p = p.add(update, alpha=-lr)
    exp_avg = exp_avg.mul(beta2).add(grad, alpha=1 - beta2)
    return p, exp_avg
