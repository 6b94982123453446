# DIFFERENT only where a whole border window is negative: zero padding before max pooling instead of -inf
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
conv = nn.Conv2d(2, 4, 3)
left = nn.Sequential(conv, nn.MaxPool2d(3, 2, padding=1))
right = nn.Sequential(conv, nn.ZeroPad2d(1), nn.MaxPool2d(3, 2))
inputs = (torch.randn(2, 2, 8, 8),)
