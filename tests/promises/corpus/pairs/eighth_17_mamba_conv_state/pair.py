import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(27)
D, K = 6, 4


class StepConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(D, 2 * D, bias=False)
        self.conv1d = nn.Conv1d(D, D, K, groups=D, padding=K - 1)
        self.out_proj = nn.Linear(D, D, bias=False)

    def step(self, tok, conv_state):
        x, z = self.in_proj(tok).chunk(2, dim=-1)
        conv_state = torch.roll(conv_state, shifts=-1, dims=-1)
        conv_state[:, :, -1] = x
        x = torch.sum(conv_state * self.conv1d.weight.squeeze(1), dim=-1) + self.conv1d.bias
        return self.out_proj(F.silu(x) * F.silu(z)), conv_state

    def forward(self, hidden, conv_state):
        ys = []
        for t in range(hidden.shape[1]):
            y, conv_state = self.step(hidden[:, t], conv_state)
            ys.append(y)
        return torch.stack(ys, dim=1), conv_state


class ChunkConv(StepConv):
    def forward(self, hidden, conv_state):
        xz = torch.einsum("btd,ed->bet", hidden, self.in_proj.weight)
        x, z = xz[:, :D], xz[:, D:]
        full = torch.cat([conv_state[..., 1:], x], dim=-1)
        y = F.conv1d(full, self.conv1d.weight, self.conv1d.bias, groups=D)
        y = y * y.sigmoid() * z * z.sigmoid()
        state = torch.cat([conv_state, x], dim=-1)[..., -K:].contiguous()
        return y.transpose(1, 2) @ self.out_proj.weight.mT, state


left, right = StepConv(), ChunkConv()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 5, D), torch.randn(2, D, K))
