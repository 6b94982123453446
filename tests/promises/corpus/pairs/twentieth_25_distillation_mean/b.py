"""The same with torch's kl_div."""
import torch
from torch.nn import functional as F

TEMPERATURE, ALPHA = 2.0, 0.7


def by_kl_div(student, teacher, labels):
    soft = F.kl_div(
        F.log_softmax(student / TEMPERATURE, dim=-1),
        F.log_softmax(teacher / TEMPERATURE, dim=-1),
        reduction="batchmean",
        log_target=True,
    ) * (TEMPERATURE * TEMPERATURE)
    log_q = F.log_softmax(student, dim=-1)
    hard = -log_q.gather(-1, labels.unsqueeze(-1)).mean()
    return torch.lerp(hard, soft, ALPHA), soft, hard
