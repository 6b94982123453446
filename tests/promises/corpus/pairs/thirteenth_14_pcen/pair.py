"""Per-channel energy normalisation of a mel spectrogram."""
import torch
from torch import nn

S = 0.1
EPS = 1e-6


class PCEN(nn.Module):
    def __init__(self, n_mels=6):
        super().__init__()
        self.log_alpha = nn.Parameter(torch.randn(n_mels) * 0.1 - 0.02)
        self.log_delta = nn.Parameter(torch.randn(n_mels) * 0.1 + 0.7)
        self.log_r = nn.Parameter(torch.randn(n_mels) * 0.1 - 0.7)

    def smooth(self, energy):
        frames = [energy[:, 0]]
        for t in range(1, energy.shape[1]):
            frames.append((1 - S) * frames[-1] + S * energy[:, t])
        return torch.stack(frames, dim=1)

    def forward(self, log_mel):
        energy = log_mel.exp()
        alpha, delta, r = self.log_alpha.exp(), self.log_delta.exp(), self.log_r.exp()
        m = self.smooth(energy)
        return (energy / (EPS + m) ** alpha + delta) ** r - delta**r


class PCENMatrix(PCEN):
    def smooth(self, energy):
        t = torch.arange(energy.shape[1])
        lag = t[:, None] - t[None, :]
        decay = (1 - S) ** lag.clamp(min=0).to(energy.dtype)
        weight = torch.where(t[None, :] == 0, decay, S * decay)
        return torch.einsum("ts,bsm->btm", weight.tril(), energy)

    def forward(self, log_mel):
        alpha, delta, r = self.log_alpha.exp(), self.log_delta.exp(), self.log_r.exp()
        m = self.smooth(log_mel.exp())
        gained = torch.exp(log_mel - alpha * torch.log(EPS + m))
        return (gained + delta).pow(r) - delta.pow(r)


torch.manual_seed(0)
left = PCEN()
right = PCENMatrix()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 7, 6),)
