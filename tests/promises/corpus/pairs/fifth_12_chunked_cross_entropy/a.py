import torch
from torch import nn
from torch.nn import functional as F


class Head(nn.Module):
    def __init__(self, dim=10, vocab=48):
        super().__init__()
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, hidden, labels):
        return F.cross_entropy(self.lm_head(hidden), labels)


torch.manual_seed(0)
program = Head().eval()
