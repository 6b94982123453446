# Multi-horizon quantile forecaster. Port of the loss from the NumPy evaluation script.
import torch
from torch import nn

Q = (0.1, 0.5, 0.75)


class Forecaster(nn.Module):
    def __init__(self, ctx=12, hor=4, hid=16):
        super().__init__()
        self.hor = hor
        self.enc = nn.Sequential(nn.Linear(ctx, hid), nn.ReLU(), nn.Linear(hid, hor * len(Q)))

    def predict(self, past):
        scale = past.abs().mean(1, keepdim=True) + 1.0
        out = self.enc(past / scale).view(-1, self.hor, len(Q))
        return out * scale.unsqueeze(-1)

    def forward(self, past, future):
        pred = self.predict(past)
        q = torch.tensor(Q, dtype=pred.dtype)
        e = future.unsqueeze(-1) - pred
        return torch.maximum(q * e, (q - 1) * e).sum(-1).mean(), pred


class Ported(Forecaster):
    def forward(self, past, future):
        pred = self.predict(past)
        loss = 0.0
        for i, q in enumerate(Q):
            e = pred[..., i] - future
            loss = loss + torch.where(e >= 0, q * e, (q - 1) * e).mean()
        return loss, pred


left = Forecaster()
right = Ported()
right.load_state_dict(left.state_dict())
inputs = {"past": torch.randn(5, 12), "future": torch.randn(5, 4)}
