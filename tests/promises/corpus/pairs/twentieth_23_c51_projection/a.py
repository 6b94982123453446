"""C51's projection of the target distribution onto the atoms, as a dense triangular kernel."""
import torch

ATOMS, LOW, HIGH, GAMMA = 7, -1.0, 1.0, 0.9


def by_triangles(logits, target_logits, actions, rewards, dones):
    """logits, target_logits [B, A, ATOMS]; returns the projected target and the loss of each sample."""
    support = torch.linspace(LOW, HIGH, ATOMS)
    step = (HIGH - LOW) / (ATOMS - 1)
    probabilities = target_logits.softmax(-1)
    best = (probabilities * support).sum(-1).argmax(-1)
    following = probabilities[torch.arange(best.shape[0]), best]
    moved = rewards[:, None] + GAMMA * (~dones)[:, None] * support
    moved = moved.clamp(LOW, HIGH)
    place = (moved - LOW) / step
    kernel = (1 - (place[:, None, :] - torch.arange(ATOMS)[None, :, None]).abs()).clamp(min=0)
    projected = (kernel * following[:, None, :]).sum(-1)
    log_p = logits.log_softmax(-1)[torch.arange(best.shape[0]), actions]
    return projected, -(projected * log_p).sum(-1)


def inputs():
    return (
        torch.randn(5, 3, ATOMS), torch.randn(5, 3, ATOMS), torch.randint(0, 3, (5,)),
        torch.randn(5), torch.rand(5) < 0.4,
    )
