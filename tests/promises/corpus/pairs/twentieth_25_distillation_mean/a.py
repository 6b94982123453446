"""Knowledge distillation over tokens: soft loss averaged over tokens, hard loss by cross entropy."""
import torch
from torch.nn import functional as F

TEMPERATURE, ALPHA = 2.0, 0.7


def per_token(student, teacher, labels):
    """student, teacher [B, T, V], labels [B, T]."""
    p = (teacher / TEMPERATURE).softmax(-1)
    log_p = (teacher / TEMPERATURE).log_softmax(-1)
    log_q = (student / TEMPERATURE).log_softmax(-1)
    soft = (p * (log_p - log_q)).sum(-1).mean() * TEMPERATURE**2
    hard = F.cross_entropy(student.flatten(0, 1), labels.flatten())
    return ALPHA * soft + (1 - ALPHA) * hard, soft, hard


def inputs():
    return torch.randn(2, 5, 7), torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5))
