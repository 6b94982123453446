# DIFFERENT. batch norm folded into a linear with the epsilon left out of the root (rel. error about 5e-6)
import torch
from torch import nn

torch.manual_seed(0)
left = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU()).eval()
with torch.no_grad():
    bn = left[1]
    bn.running_mean.normal_(); bn.running_var.uniform_(.5, 2); bn.weight.uniform_(.5, 2); bn.bias.normal_()
    s = bn.weight / torch.sqrt(bn.running_var)
    lin = nn.Linear(6, 5)
    lin.weight.copy_(left[0].weight * s[:, None])
    lin.bias.copy_((left[0].bias - bn.running_mean) * s + bn.bias)
right = nn.Sequential(lin, nn.ReLU()).eval()
inputs = (torch.randn(4, 6),)
