# EQUAL (up to rounding). weight norm on one layer and a pruning mask on the other, vs both removed
import torch
from torch import nn
from torch.nn.utils import prune, parametrize
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = weight_norm(nn.Linear(8, 12))
        self.b = nn.Linear(12, 5)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


left = Net()
with torch.no_grad():
    left.a.parametrizations.weight.original0.mul_(1.7)
prune.l1_unstructured(left.b, "weight", amount=0.4)

right = Net()
right.a.load_state_dict(left.a.state_dict())
right.b = nn.Linear(12, 5)
prune.custom_from_mask(right.b, "weight", left.b.weight_mask)
right.b.load_state_dict(left.b.state_dict())
parametrize.remove_parametrizations(right.a, "weight")
with torch.no_grad():
    right.b(torch.zeros(1, 12))          # applies the mask to the loaded numbers
prune.remove(right.b, "weight")
inputs = (torch.randn(4, 8),)
