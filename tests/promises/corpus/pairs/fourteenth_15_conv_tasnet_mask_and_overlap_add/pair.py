"""Conv-TasNet style decoder: masked encoder frames, a basis per frame, overlap-add by torch's fold, and by ConvTranspose1d."""
import torch
from torch import nn
from torch.nn import functional as F


class left(nn.Module):
    def __init__(self, bases=5, win=6, hop=3):
        super().__init__()
        self.win, self.hop = win, hop
        self.encoder = nn.Linear(win, bases, bias=False)
        self.decoder = nn.Linear(bases, win, bias=False)
        self.mask = nn.Linear(bases, 2 * bases)

    def forward(self, wav):                          # (B, T)
        frames = wav.unfold(-1, self.win, self.hop)  # (B, L, win)
        w = torch.relu(self.encoder(frames))
        m = torch.sigmoid(self.mask(w)).unflatten(-1, (2, -1))
        src = self.decoder(m * w.unsqueeze(2))       # (B, L, 2, win)
        b, n = src.shape[:2]
        length = (n - 1) * self.hop + self.win
        cols = src.permute(0, 2, 3, 1).reshape(2 * b, self.win, n)
        out = F.fold(cols, (1, length), (1, self.win), stride=(1, self.hop))
        return out.reshape(b, 2, length)


class right(nn.Module):
    def __init__(self, bases=5, win=6, hop=3):
        super().__init__()
        ref = left(bases, win, hop)
        self.encoder = nn.Conv1d(1, bases, win, stride=hop, bias=False)
        self.encoder.weight.data = ref.encoder.weight.data[:, None].clone()
        self.decoder = nn.ConvTranspose1d(bases, 1, win, stride=hop, bias=False)
        self.decoder.weight.data = ref.decoder.weight.data.T[:, None].clone()
        self.mask = nn.Conv1d(bases, 2 * bases, 1)
        self.mask.weight.data, self.mask.bias.data = ref.mask.weight.data[..., None].clone(), ref.mask.bias.data

    def forward(self, wav):
        w = F.relu(self.encoder(wav[:, None]))
        outs = [self.decoder(w * m)[:, 0] for m in self.mask(w).sigmoid().chunk(2, 1)]
        return torch.stack(outs, 1)


def inputs():
    return (torch.randn(2, 18),)
