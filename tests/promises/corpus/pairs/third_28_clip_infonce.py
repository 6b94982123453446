# EQUAL: CLIP symmetric InfoNCE: normalised embeddings and two cross-entropies vs logsumexp minus diagonal in one formula
import torch
from torch import nn
import torch.nn.functional as F

D, P = 8, 6


class CLIPLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual_projection = nn.Linear(D, P, bias=False)
        self.text_projection = nn.Linear(D, P, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(2.6592))

    def forward(self, image, text):
        i = self.visual_projection(image)
        t = self.text_projection(text)
        i = i / i.norm(p=2, dim=-1, keepdim=True)
        t = t / t.norm(p=2, dim=-1, keepdim=True)
        logits = torch.matmul(t, i.t()) * self.logit_scale.exp()
        labels = torch.arange(len(logits))
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2.0


class Open(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.vp = nn.Parameter(src.visual_projection.weight.detach().t().clone())
        self.tp = nn.Parameter(src.text_projection.weight.detach().t().clone())
        self.log_tau = nn.Parameter(src.logit_scale.detach().clone())

    def forward(self, image, text):
        i = image @ self.vp
        t = text @ self.tp
        i = i * i.square().sum(-1, keepdim=True).rsqrt()
        t = t * torch.einsum("nd,nd->n", t, t).rsqrt().unsqueeze(-1)
        s = self.log_tau.exp() * i @ t.T
        diag = (i * t).sum(-1) * self.log_tau.exp()
        return 0.5 * (torch.logsumexp(s, 0) + torch.logsumexp(s, 1) - 2 * diag).mean()


left = CLIPLoss()
right = Open(left)


def inputs():
    return torch.randn(3, D), torch.randn(3, D)
