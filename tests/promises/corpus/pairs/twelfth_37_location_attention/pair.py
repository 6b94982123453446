"""Location-sensitive attention of Tacotron 2, over a few decoder steps with masked encoder padding."""
import torch
from torch import nn
from torch.nn import functional as F


class LocationAttention(nn.Module):
    def __init__(self, query=6, memory=8, attn=7, filters=3, kernel=5):
        super().__init__()
        self.query_layer = nn.Linear(query, attn, bias=False)
        self.memory_layer = nn.Linear(memory, attn, bias=False)
        self.location_conv = nn.Conv1d(1, filters, kernel, padding=(kernel - 1) // 2, bias=False)
        self.location_dense = nn.Linear(filters, attn, bias=False)
        self.v = nn.Linear(attn, 1, bias=False)

    def forward(self, queries, memory, lengths):
        processed = self.memory_layer(memory)
        mask = torch.arange(memory.shape[1])[None, :] >= lengths[:, None]
        cumulative = torch.zeros(memory.shape[:2], dtype=memory.dtype)
        contexts = []
        for step in range(queries.shape[1]):
            location = self.location_conv(cumulative.unsqueeze(1)).transpose(1, 2)
            energies = self.v(torch.tanh(self.query_layer(queries[:, step : step + 1]) + self.location_dense(location) + processed)).squeeze(-1)
            alignment = F.softmax(energies.masked_fill(mask, -float("inf")), dim=1)
            cumulative = cumulative + alignment
            contexts.append(torch.bmm(alignment.unsqueeze(1), memory).squeeze(1))
        return torch.stack(contexts, dim=1)


class Port(LocationAttention):
    def forward(self, queries, memory, lengths):
        b, t, _ = memory.shape
        keys = self.memory_layer(memory)
        q = self.query_layer(queries)
        valid = torch.arange(t).expand(b, t) < lengths.unsqueeze(1)
        alignment = memory.new_zeros(b, t)
        out = []
        for q_t in q.unbind(dim=1):
            features = self.location_dense(self.location_conv(alignment[:, None]).mT)
            score = torch.tanh(q_t[:, None] + keys + features) @ self.v.weight[0]
            alignment = torch.where(valid, score, float("-inf")).softmax(-1)
            out.append(torch.einsum("bt,btd->bd", alignment, memory))
        return torch.stack(out, 1)


left = LocationAttention
right = Port


def inputs():
    return torch.randn(2, 4, 6), torch.randn(2, 9, 8), torch.tensor([9, 6])
