"""The same in O(n log n), as most repositories have it: sort by descending time, then a running logsumexp."""
import torch
from a import DeepSurv
from torch import nn


class FastDeepSurv(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = DeepSurv()
        self.hidden = nn.Parameter(theirs.hidden.weight.detach().t().contiguous())
        self.hidden_bias = nn.Parameter(theirs.hidden.bias.detach().clone())
        self.risk = nn.Parameter(theirs.risk.weight.detach()[0].clone())

    def forward(self, covariates, days, died):
        order = torch.argsort(days, descending=True, stable=True)
        covariates, died = covariates[order], died[order]
        risk = torch.selu(covariates @ self.hidden + self.hidden_bias) @ self.risk
        log_sum = torch.logcumsumexp(risk, dim=0)
        events = died.sum().clamp(min=1)
        return torch.where(died, log_sum - risk, 0.0).sum() / events
