"""Reranker: document by document, with lengths' masks added, tokens normalised after the product."""
import torch
from torch import nn


class Reranker(nn.Module):
    def __init__(self, hidden=12, dim=8):
        super().__init__()
        self.linear = nn.Linear(hidden, dim, bias=False)

    @staticmethod
    def inverse_norm(x):
        return 1.0 / torch.clamp(torch.linalg.vector_norm(x, dim=-1), min=1e-12)

    def forward(self, q_hidden, q_mask, d_hidden, d_mask):
        q = q_hidden @ self.linear.weight.T
        d = d_hidden @ self.linear.weight.T
        q_inv, d_inv = self.inverse_norm(q), self.inverse_norm(d)
        hide = torch.zeros_like(d_inv).masked_fill(d_mask.logical_not(), -torch.inf)
        flat = q.reshape(-1, q.shape[-1])
        scores = []
        for doc, inv, bias in zip(d, d_inv, hide):
            sim = torch.mm(flat, doc.T).view(q.shape[0], q.shape[1], -1)
            sim = sim * q_inv[..., None] * inv + bias
            top = torch.amax(sim, -1)
            scores.append(torch.where(q_mask, top, torch.zeros_like(top)).sum(1))
        return torch.stack(scores, dim=1)
