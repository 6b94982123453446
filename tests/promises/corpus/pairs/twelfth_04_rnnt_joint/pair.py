"""RNN-T joint network: concatenate every (t, u) pair, or project each side once and add."""
import torch
from torch import nn


class ConcatJoint(nn.Module):
    def __init__(self, enc=6, pred=5, hidden=8, vocab=11):
        super().__init__()
        self.fc = nn.Linear(enc + pred, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, encoder, predictor):
        B, T, _ = encoder.shape
        U = predictor.shape[1]
        e = encoder.unsqueeze(2).expand(B, T, U, encoder.shape[-1])
        p = predictor.unsqueeze(1).expand(B, T, U, predictor.shape[-1])
        return self.out(torch.tanh(self.fc(torch.cat([e, p], dim=-1)))).log_softmax(-1)


class SumJoint(nn.Module):
    def __init__(self, joint):
        super().__init__()
        n = 6
        self.enc = nn.Linear(6, 8)
        self.pred = nn.Linear(5, 8, bias=False)
        self.out = nn.Linear(8, 11)
        self.enc.weight.data = joint.fc.weight.data[:, :n].clone()
        self.enc.bias.data = joint.fc.bias.data.clone()
        self.pred.weight.data = joint.fc.weight.data[:, n:].clone()
        self.out.load_state_dict(joint.out.state_dict())

    def forward(self, encoder, predictor):
        hidden = torch.tanh(self.enc(encoder)[:, :, None] + self.pred(predictor)[:, None])
        return torch.log_softmax(self.out(hidden), dim=-1)


torch.manual_seed(4)
left = ConcatJoint()
right = SumJoint(left)


def inputs():
    return torch.randn(2, 7, 6), torch.randn(2, 4, 5)
