# EQUAL
import torch
import torch.nn.functional as F

T = 3.0


class Hinton:
    def __call__(self, student, teacher):
        return F.kl_div(
            F.log_softmax(student / T, dim=1),
            F.softmax(teacher / T, dim=1),
            reduction="batchmean",
        ) * T * T


def left(student, teacher):
    return Hinton()(student, teacher)


def right(student, teacher):
    s, t = student / T, teacher / T
    log_q = s - torch.logsumexp(s, -1, keepdim=True)
    log_p = t - torch.logsumexp(t, -1, keepdim=True)
    return T ** 2 * torch.mean((log_p.exp() * (log_p - log_q)).sum(-1))


torch.manual_seed(9)
inputs = torch.randn(4, 10), torch.randn(4, 10)
