"""The same as it is served: one table for all fields, with offsets, and interactions by the square of the sum."""
import torch
from a import DENSE, FIELDS, SIZE, DeepFM
from torch import nn
from torch.nn import functional as F


class ServedDeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = DeepFM()
        weights = [
            torch.cat([second.weight.detach(), first.weight.detach()], dim=1)
            for first, second in zip(theirs.first_order, theirs.second_order, strict=True)
        ]
        self.table = nn.Parameter(torch.cat(weights))  # [all values of all fields, SIZE + 1]
        starts = [0, *torch.tensor(FIELDS).cumsum(0)[:-1].tolist()]
        self.register_buffer("offsets", torch.tensor(starts))
        linear = theirs.dense_linear
        self.dense = nn.Parameter(torch.cat([theirs.dense_factors.detach(), linear.weight.detach().t()], dim=1))
        self.bias = nn.Parameter(linear.bias.detach().clone())
        self.fc1, self.fc2, self.fc3 = theirs.deep[0], theirs.deep[2], theirs.deep[4]

    def forward(self, categories, numbers):
        rows = F.embedding(categories + self.offsets, self.table)
        rows = torch.cat([rows, numbers.unsqueeze(-1) * self.dense], dim=1)
        vectors, weights = rows[..., :SIZE], rows[..., SIZE]
        of_sum, of_each = vectors.sum(1).square(), vectors.square().sum(1)
        interaction = 0.5 * (of_sum - of_each).sum(-1)
        hidden = F.relu(self.fc1(vectors.flatten(1)))
        hidden = F.relu(self.fc2(hidden))
        logit = self.bias + weights.sum(1) + interaction + self.fc3(hidden)[:, 0]
        return 1 / (1 + torch.exp(-logit))
