"""ArcFace: the angle of the right class grows by a margin (with the linear fallback past pi - m) before a scaled cross entropy over classes."""
import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def arcface_ce_kernel(cos_ptr, label_ptr, loss_ptr, n_classes, row_stride,
                      s, cos_m, sin_m, th, mm, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cos_ptr += row * row_stride
    y = tl.load(label_ptr + row)

    c = tl.load(cos_ptr + y)
    sine = tl.sqrt(tl.maximum(1.0 - c * c, 0.0))
    phi = c * cos_m - sine * sin_m
    target = s * tl.where(c > th, phi, c - mm)

    m = -float("inf")
    d = 0.0
    for start in range(0, n_classes, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        z = s * tl.load(cos_ptr + cols, mask=cols < n_classes, other=-float("inf"))
        z = tl.where(cols == y, target, z)
        m_new = tl.maximum(m, tl.max(z, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(z - m_new), axis=0)
        m = m_new
    tl.store(loss_ptr + row, m + tl.log(d) - target)


def launch(batch=6, classes=50, dim=16):
    emb = torch.randn(batch, dim, device="cuda")
    weight = torch.randn(classes, dim, device="cuda")
    labels = torch.randint(0, classes, (batch,), device="cuda")
    cosine = F.linear(F.normalize(emb), F.normalize(weight))
    loss = torch.empty(batch, device="cuda")
    margin = 0.5
    arcface_ce_kernel[(batch,)](cosine, labels, loss, classes, cosine.stride(0), 16.0,
                                math.cos(margin), math.sin(margin), math.cos(math.pi - margin),
                                math.sin(math.pi - margin) * margin, BLOCK=16)
    return loss.mean()


def reference(emb, weight, labels):
    cosine = F.linear(F.normalize(emb), F.normalize(weight))
    sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(min=0))
    phi = cosine * math.cos(0.5) - sine * math.sin(0.5)
    phi = torch.where(cosine > math.cos(math.pi - 0.5), phi, cosine - math.sin(math.pi - 0.5) * 0.5)
    one_hot = F.one_hot(labels, weight.shape[0]).to(cosine.dtype)
    output = (one_hot * phi + (1.0 - one_hot) * cosine) * 16.0
    return F.cross_entropy(output, labels)

TRUTH = "verified"
