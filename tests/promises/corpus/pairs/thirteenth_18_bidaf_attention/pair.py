"""The attention flow layer of BiDAF: similarities from [c; q; c * q]."""
import torch
from torch import nn


def attention_flow(s, c, q, q_mask):
    s = s.masked_fill(~q_mask[:, None, :], -1e30)
    c2q = torch.bmm(torch.softmax(s, dim=2), q)
    b = torch.softmax(s.max(dim=2).values, dim=1)
    q2c = torch.bmm(b.unsqueeze(1), c).expand(-1, c.shape[1], -1)
    return torch.cat([c, c2q, c * c2q, c * q2c], dim=-1)


class BiDAF(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.att = nn.Linear(3 * dim, 1)

    def forward(self, c, q, q_mask):
        c_len, q_len = c.shape[1], q.shape[1]
        cc = c.unsqueeze(2).expand(-1, -1, q_len, -1)
        qq = q.unsqueeze(1).expand(-1, c_len, -1, -1)
        s = self.att(torch.cat([cc, qq, cc * qq], dim=-1)).squeeze(-1)
        return attention_flow(s, c, q, q_mask)


class BiDAFSplit(nn.Module):
    def __init__(self, big):
        super().__init__()
        w_c, w_q, w_cq = big.att.weight.detach()[0].chunk(3)
        self.w_c = nn.Parameter(w_c.clone())
        self.w_q = nn.Parameter(w_q.clone())
        self.w_cq = nn.Parameter(w_cq.clone())
        self.bias = nn.Parameter(big.att.bias.detach().clone())

    def forward(self, c, q, q_mask):
        s = (c @ self.w_c)[:, :, None] + (q @ self.w_q)[:, None, :]
        s = s + (c * self.w_cq) @ q.transpose(1, 2) + self.bias
        return attention_flow(s, c, q, q_mask)


torch.manual_seed(0)
left = BiDAF()
right = BiDAFSplit(left)


def inputs():
    mask = torch.tensor([[True, True, True, True], [True, True, False, False]])
    return torch.randn(2, 5, 6), torch.randn(2, 4, 6), mask
