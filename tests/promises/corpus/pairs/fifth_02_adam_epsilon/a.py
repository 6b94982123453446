import math

import torch


def program(param, grad, exp_avg, exp_avg_sq):
    """Step 3 of Adam, as torch.optim has it."""
    lr, beta1, beta2, eps, step = 1e-2, 0.9, 0.999, 1e-5, 3
    exp_avg = exp_avg * beta1 + grad * (1 - beta1)
    exp_avg_sq = exp_avg_sq * beta2 + grad * grad * (1 - beta2)
    bias_correction1 = 1 - beta1**step
    bias_correction2 = 1 - beta2**step
    step_size = lr / bias_correction1
    denom = exp_avg_sq.sqrt() / math.sqrt(bias_correction2) + eps
    return param - step_size * exp_avg / denom, exp_avg, exp_avg_sq
