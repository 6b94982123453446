import torch

torch.manual_seed(104)
DELTA = 1.5


def left(q_values, targets, weights):
    """TD loss with importance weights (prioritised replay)."""
    error = (q_values - targets).abs()
    loss = torch.where(error <= DELTA, 0.5 * error ** 2, DELTA * (error - 0.5 * DELTA))
    return (weights * loss).mean(), error


def right(q_values, targets, weights):
    error = (targets - q_values).abs()
    quadratic = error.clamp(max=DELTA)
    linear = error - quadratic
    loss = 0.5 * quadratic.square() + DELTA * linear
    return torch.dot(weights, loss) / weights.numel(), error


inputs = (2 * torch.randn(7), 2 * torch.randn(7), torch.rand(7) + 0.1)
