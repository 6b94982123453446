import torch
from torch import nn

torch.manual_seed(36)
D, H, DH, P, S = 12, 3, 4, 5, 3


class NaiveDecode(nn.Module):
    def __init__(self):
        super().__init__()
        self.wqkv = nn.Linear(D, 3 * D)
        self.wo = nn.Linear(D, D)

    def forward(self, x, prefix_k, prefix_v, suffix_k, suffix_v):
        b = x.shape[0]
        q, k, v = self.wqkv(x).view(b, 3, H, 1, DH).unbind(1)
        suffix_k, suffix_v = torch.cat([suffix_k, k], 2), torch.cat([suffix_v, v], 2)
        keys = torch.cat([prefix_k.expand(b, -1, -1, -1), suffix_k], dim=2)
        values = torch.cat([prefix_v.expand(b, -1, -1, -1), suffix_v], dim=2)
        o = nn.functional.scaled_dot_product_attention(q, keys, values)
        return self.wo(o.reshape(b, D)), suffix_k, suffix_v


def attend(q, k, v):
    s = torch.matmul(q, k.transpose(-2, -1)) / DH ** 0.5
    lse = s.logsumexp(dim=-1, keepdim=True)
    return torch.exp(s - lse) @ v, lse


class Hydragen(nn.Module):
    """The prefix is read once: its keys meet the queries of the whole batch in one matmul."""

    def __init__(self, naive):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D) for _ in range(4))
        for lin, w, b in zip((self.wq, self.wk, self.wv), naive.wqkv.weight.data.chunk(3), naive.wqkv.bias.data.chunk(3)):
            lin.weight.data.copy_(w)
            lin.bias.data.copy_(b)
        self.wo.load_state_dict(naive.wo.state_dict())

    def forward(self, x, prefix_k, prefix_v, suffix_k, suffix_v):
        b = x.shape[0]
        q = self.wq(x).view(b, H, DH)
        suffix_k = torch.cat([suffix_k, self.wk(x).view(b, H, 1, DH)], 2)
        suffix_v = torch.cat([suffix_v, self.wv(x).view(b, H, 1, DH)], 2)
        o1, l1 = attend(q.transpose(0, 1), prefix_k[0], prefix_v[0])       # [H, B, .]
        o1, l1 = o1.transpose(0, 1), l1.transpose(0, 1)
        o2, l2 = attend(q.unsqueeze(2), suffix_k, suffix_v)
        o2, l2 = o2.squeeze(2), l2.squeeze(2)
        m = torch.maximum(l1, l2)
        a1, a2 = torch.exp(l1 - m), torch.exp(l2 - m)
        o = (a1 * o1 + a2 * o2) / (a1 + a2)
        return self.wo(o.flatten(1)), suffix_k, suffix_v


left = NaiveDecode()
right = Hydragen(left)
inputs = (torch.randn(4, D), torch.randn(1, H, P, DH), torch.randn(1, H, P, DH),
          torch.randn(4, H, S, DH), torch.randn(4, H, S, DH))
