import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(106)


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1 - self.p
        mask = x.new_empty((x.shape[0],) + (1,) * (x.dim() - 1)).bernoulli_(keep)
        return x * mask / keep


class MixerMlp(nn.Module):
    def __init__(self, d=6, h=10, p=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, h), nn.GELU(), nn.Dropout(p), nn.Linear(h, d), nn.Dropout(p))
        self.path = DropPath(0.2)
        nn.init.normal_(self.norm.weight, 1.0, 0.3)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return F.dropout(x + self.path(self.mlp(self.norm(x))), 0.1, self.training)


class Served(nn.Module):
    def __init__(self, d=6, h=10):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.up = nn.Linear(d, h)
        self.down = nn.Linear(h, d)

    def forward(self, x):
        return torch.add(self.down(F.gelu(self.up(self.ln(x)))), x)


left = MixerMlp().eval()
right = Served().eval()
names = {"ln": "norm", "up": "mlp.0", "down": "mlp.3"}
state = left.state_dict()
right.load_state_dict({f"{n}.{t}": state[f"{o}.{t}"] for n, o in names.items() for t in ("weight", "bias")})
inputs = (torch.randn(2, 5, 6),)
