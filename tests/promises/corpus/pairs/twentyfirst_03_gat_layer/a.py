"""Graph attention layer with scatters, like PyTorch Geometric's."""
import torch
from torch import nn
from torch.nn import functional as F


def segment_softmax(src, index, num_nodes):
    idx = index.unsqueeze(-1).expand_as(src)
    high = src.new_full((num_nodes, src.shape[1]), float("-inf"))
    high = high.scatter_reduce(0, idx, src, reduce="amax", include_self=True)
    out = (src - high.index_select(0, index)).exp()
    total = out.new_zeros(num_nodes, src.shape[1]).scatter_add_(0, idx, out)
    return out / total.index_select(0, index)


class GATConv(nn.Module):
    def __init__(self, cin=6, cout=4, heads=2):
        super().__init__()
        self.heads, self.cout = heads, cout
        self.lin = nn.Linear(cin, heads * cout, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, cout))
        self.att_dst = nn.Parameter(torch.randn(1, heads, cout))
        self.bias = nn.Parameter(torch.randn(heads * cout))

    def forward(self, x, edge_index):
        n = x.shape[0]
        loops = torch.arange(n, device=x.device)
        src = torch.cat([edge_index[0], loops])
        dst = torch.cat([edge_index[1], loops])
        h = self.lin(x).view(n, self.heads, self.cout)
        a_src, a_dst = (h * self.att_src).sum(-1), (h * self.att_dst).sum(-1)
        alpha = F.leaky_relu(a_src[src] + a_dst[dst], 0.2)
        alpha = segment_softmax(alpha, dst, n)
        out = torch.zeros_like(h).index_add_(0, dst, h[src] * alpha.unsqueeze(-1))
        return out.reshape(n, -1) + self.bias


def inputs():
    return torch.randn(5, 6), torch.tensor([[0, 1, 2, 3, 4, 0, 2], [1, 0, 3, 4, 1, 4, 0]])
