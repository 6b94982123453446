"""DeepSurv: negative log partial likelihood of Cox's model (Breslow), with the risk set of each patient as a mask."""
import torch
from torch import nn

FEATURES = 6


class DeepSurv(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(FEATURES, 8)
        self.risk = nn.Linear(8, 1, bias=False)

    def forward(self, covariates, days, died):
        """`days` of follow-up are whole numbers; `died` is False where the patient was censored."""
        risk = self.risk(torch.nn.functional.selu(self.hidden(covariates))).squeeze(-1)
        at_risk = days[None, :] >= days[:, None]
        log_sum = risk.expand(len(risk), -1).masked_fill(~at_risk, float("-inf")).logsumexp(1)
        event = died.to(risk.dtype)
        return -((risk - log_sum) * event).sum() / event.sum().clamp(min=1)


def inputs():
    return torch.randn(12, FEATURES), torch.randint(1, 30, (12,)), torch.rand(12) < 0.7
