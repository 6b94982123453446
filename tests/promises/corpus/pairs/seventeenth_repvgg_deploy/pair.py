"""RepVGG blocks as trained, and re-parameterised for deployment."""
import torch
from torch import nn

C = 6
B, S = 2, 8


def conv_bn(cin, cout, k, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, k, stride=stride, padding=k // 2, bias=False), nn.BatchNorm2d(cout))


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.dense = conv_bn(cin, cout, 3, stride)
        self.pointwise = conv_bn(cin, cout, 1, stride)
        self.identity = nn.BatchNorm2d(cin) if cin == cout and stride == 1 else None

    def forward(self, x):
        out = self.dense(x) + self.pointwise(x)
        if self.identity is not None:
            out = out + self.identity(x)
        return torch.relu(out)


class TrainNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = nn.Sequential(Block(3, C, 2), Block(C, C, 1))
        self.head = nn.Linear(C, 5)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):           # as if it had been trained
                nn.init.uniform_(m.weight, 0.5, 1.5)
                nn.init.normal_(m.bias, 0.0, 0.2)
                nn.init.normal_(m.running_mean, 0.0, 0.3)
                nn.init.uniform_(m.running_var, 0.5, 2.0)

    def forward(self, x):
        return self.head(self.stage(x).mean((2, 3)))


def fold(kernel, bn):
    t = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    return kernel * t.view(-1, 1, 1, 1), bn.bias - bn.running_mean * t


class DeployNet(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.convs = nn.ModuleList()
        with torch.no_grad():
            for block in net.stage:
                k3, b3 = fold(block.dense[0].weight, block.dense[1])
                k1, b1 = fold(nn.functional.pad(block.pointwise[0].weight, [1, 1, 1, 1]), block.pointwise[1])
                kernel, bias = k3 + k1, b3 + b1
                if block.identity is not None:
                    eye = torch.zeros_like(block.dense[0].weight)
                    for i in range(eye.shape[0]):
                        eye[i, i, 1, 1] = 1
                    ki, bi = fold(eye, block.identity)
                    kernel, bias = kernel + ki, bias + bi
                old = block.dense[0]
                conv = nn.Conv2d(old.in_channels, old.out_channels, 3, stride=old.stride, padding=1)
                conv.weight.copy_(kernel)
                conv.bias.copy_(bias)
                self.convs.append(conv)
        self.head = net.head

    def forward(self, x):
        for conv in self.convs:
            x = torch.relu(conv(x))
        return self.head(x.mean((2, 3)))


left = TrainNet().eval()
right = DeployNet(left).eval()


def inputs():
    return (torch.randn(B, 3, S, S),)
