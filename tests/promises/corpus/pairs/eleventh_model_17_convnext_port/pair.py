import math

import torch
from torch import nn
from torch.nn import functional as F


def drawn(model, seed=0):
    """Weights of every parameter from a fixed seed, norms and biases too."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape, generator=g) * (p.shape[-1] ** -0.5 if p.ndim > 1 else 0.2))
            if p.ndim == 1 and name.endswith("weight"):
                p.add_(1.0)
    return model.eval()


def linear(sd, name, bias=True):
    w = sd[name + ".weight"]
    layer = nn.Linear(w.shape[1], w.shape[0], bias=bias)
    layer.weight.data.copy_(w)
    if bias:
        layer.bias.data.copy_(sd[name + ".bias"])
    return layer


def param(sd, name):
    return nn.Parameter(sd[name].clone())


from transformers import ConvNextConfig, ConvNextModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = ConvNextModel(ConvNextConfig(hidden_sizes=[8, 12], depths=[1, 1], num_stages=2, patch_size=4, layer_scale_init_value=0.5))

    def forward(self, images):
        out = self.net(pixel_values=images)
        return out.last_hidden_state, out.pooler_output


def norm(x, w, b, eps):
    x = x - x.mean(-1, keepdim=True)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w + b


class Patch(nn.Module):
    """A convolution whose stride is its size: one matmul."""

    def __init__(self, w, b):
        super().__init__()
        self.size = w.shape[-1]
        self.matrix, self.bias = nn.Parameter(w.permute(2, 3, 1, 0).reshape(-1, w.shape[0]).clone()), nn.Parameter(b.clone())

    def forward(self, x):
        b, h, w, c = x.shape
        s = self.size
        return x.view(b, h // s, s, w // s, s, c).transpose(2, 3).reshape(b, h // s, w // s, -1) @ self.matrix + self.bias


class Block(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        self.dw, self.dwb = param(sd, p + "dwconv.weight"), param(sd, p + "dwconv.bias")
        self.g, self.b = param(sd, p + "layernorm.weight"), param(sd, p + "layernorm.bias")
        self.up = linear(sd, p + "pwconv1")
        scale = sd[p + "layer_scale_parameter"]
        self.w2, self.b2 = nn.Parameter(sd[p + "pwconv2.weight"] * scale[:, None]), nn.Parameter(sd[p + "pwconv2.bias"] * scale)

    def forward(self, x):
        y = F.conv2d(x.permute(0, 3, 1, 2), self.dw, self.dwb, padding=3, groups=x.shape[-1]).permute(0, 2, 3, 1)
        return x + F.linear(F.gelu(self.up(norm(y, self.g, self.b, 1e-6))), self.w2, self.b2)


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        sd = {k.removeprefix("net."): v for k, v in sd.items()}
        self.stem = Patch(sd["embeddings.patch_embeddings.weight"], sd["embeddings.patch_embeddings.bias"])
        self.g0, self.b0 = param(sd, "embeddings.layernorm.weight"), param(sd, "embeddings.layernorm.bias")
        self.block0 = Block(sd, "encoder.stages.0.layers.0.")
        self.g1, self.b1 = param(sd, "encoder.stages.1.downsampling_layer.0.weight"), param(sd, "encoder.stages.1.downsampling_layer.0.bias")
        self.down = Patch(sd["encoder.stages.1.downsampling_layer.1.weight"], sd["encoder.stages.1.downsampling_layer.1.bias"])
        self.block1 = Block(sd, "encoder.stages.1.layers.0.")
        self.g2, self.b2 = param(sd, "layernorm.weight"), param(sd, "layernorm.bias")

    def forward(self, images):
        x = norm(self.stem(images.permute(0, 2, 3, 1)), self.g0, self.b0, 1e-6)
        x = self.block0(x)
        x = self.down(norm(x, self.g1, self.b1, 1e-6))
        x = self.block1(x)
        return x.permute(0, 3, 1, 2), norm(x.mean((1, 2)), self.g2, self.b2, 1e-12)


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randn(2, 3, 24, 24),)
