# DIFFERENT
"""ResNet (bottlenecks) from Transformers against a functional network over the checkpoint's tensors, as one would
port it to a framework without modules."""
from functools import partial

import torch
import torch.nn.functional as F
from transformers import ResNetConfig, ResNetForImageClassification

cfg = ResNetConfig(
    embedding_size=8, hidden_sizes=[16, 32], depths=[1, 2], layer_type="bottleneck", num_labels=5, num_channels=3
)


def checkpoint():
    net = ResNetForImageClassification(cfg).eval()
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):      # as after some training
            torch.nn.init.uniform_(m.weight, 0.5, 1.5)
            torch.nn.init.normal_(m.bias, std=0.3)
            m.running_mean.normal_(0, 0.3)
            m.running_var.uniform_(0.5, 2.0)
    return net


net = checkpoint()
tensors = net.state_dict()


def left(images):
    return net(images).logits


def conv_bn(t, name, x, stride=1, act=True):
    w = t[f"{name}.convolution.weight"]
    n = f"{name}.normalization."
    x = F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2)
    scale = t[n + "weight"] / (t[n + "running_var"] + 1e-5).sqrt()
    shift = t[n + "bias"] - t[n + "running_mean"] * scale
    x = x * scale[:, None, None] + shift[:, None, None]
    return x.relu() if act else x


def bottleneck(t, name, x, stride):
    short = x
    if f"{name}.shortcut.convolution.weight" in t:
        short = conv_bn(t, f"{name}.shortcut", x, stride, act=False)
    y = conv_bn(t, f"{name}.layer.0", x, stride)
    y = conv_bn(t, f"{name}.layer.1", y)
    y = conv_bn(t, f"{name}.layer.2", y, act=False)
    return (y + short).relu()


def resnet(t, images):
    x = conv_bn(t, "resnet.embedder.embedder", images, stride=2)
    x = F.max_pool2d(x, 3, stride=2, padding=1)
    for stage, depth in enumerate(cfg.depths):
        for i in range(depth):
            stride = 2 if i == 0 and stage > 0 else 1
            x = bottleneck(t, f"resnet.encoder.stages.{stage}.layers.{i}", x, stride)
    x = x.mean(dim=(2, 3))
    return x @ t["classifier.1.weight"].T + t["classifier.1.bias"]


right = partial(resnet, tensors)
inputs = (torch.randn(2, 3, 32, 32),)
