import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)
LR, MU, WD, CLIP = 0.1, 0.9, 1e-3, 1.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 4)


class TorchStep(Net):
    def __init__(self):
        super().__init__()
        self.opt = torch.optim.SGD(self.parameters(), lr=LR, momentum=MU, weight_decay=WD, nesterov=True)

    def forward(self, x, y):
        self.opt.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.fc2(torch.relu(self.fc1(x))), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters(), CLIP)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        return loss.detach(), norm


class ManualStep(Net):
    def __init__(self):
        super().__init__()
        self.requires_grad_(False)
        self.momenta = {n: torch.zeros_like(p) for n, p in self.named_parameters()}

    def forward(self, x, y):
        n = x.shape[0]
        a = x @ self.fc1.weight.T + self.fc1.bias
        h = a.clamp(min=0)
        logits = h @ self.fc2.weight.T + self.fc2.bias
        logp = logits - logits.logsumexp(1, keepdim=True)
        onehot = F.one_hot(y, 4).to(logp.dtype)
        loss = -(logp * onehot).sum() / n
        dlogits = (logp.exp() - onehot) / n
        dh = dlogits @ self.fc2.weight
        da = dh * (a > 0)
        grads = {
            "fc1.weight": da.T @ x,
            "fc1.bias": da.sum(0),
            "fc2.weight": dlogits.T @ h,
            "fc2.bias": dlogits.sum(0),
        }
        norm = torch.sqrt(sum((g * g).sum() for g in grads.values()))
        scale = (CLIP / (norm + 1e-6)).clamp(max=1.0)
        for name, p in self.named_parameters():
            g = grads[name] * scale + WD * p
            buf = self.momenta[name]
            buf.mul_(MU).add_(g)
            p -= LR * (g + MU * buf)
        return loss, norm


left = TorchStep()
right = ManualStep()
right.load_state_dict(copy.deepcopy(left.state_dict()))
inputs = (torch.randn(5, 6), torch.randint(0, 4, (5,)))
