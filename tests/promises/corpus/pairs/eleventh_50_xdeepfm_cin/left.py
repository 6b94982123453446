import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, sizes=(5, 7, 4), dim=6, layers=(4, 3)):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(n, dim) for n in sizes])
        fields, previous, self.convs = len(sizes), len(sizes), nn.ModuleList()
        for out in layers:
            self.convs.append(nn.Conv1d(previous * fields, out, kernel_size=1))
            previous = out
        self.fc = nn.Linear(sum(layers), 1)

    def forward(self, ids):
        x0 = torch.stack([table(ids[:, i]) for i, table in enumerate(self.embeddings)], dim=1)
        h, pooled = x0, []
        for conv in self.convs:
            x = x0.unsqueeze(2) * h.unsqueeze(1)
            b, f0, fh, d = x.shape
            h = F.relu(conv(x.view(b, f0 * fh, d)))
            pooled.append(torch.sum(h, dim=2))
        return self.fc(torch.cat(pooled, dim=1)).squeeze(1)


def inputs():
    return (torch.tensor([[0, 3, 1], [4, 6, 2], [1, 0, 3], [2, 5, 0]]),)
