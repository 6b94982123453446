"""xDeepFM: embeddings, compressed interaction network, linear part."""
import torch
from torch import nn

FIELDS, VOCAB, DIM = 4, 7, 5
LAYERS = (6, 3)


class XDeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(FIELDS * VOCAB, DIM)
        self.lin = nn.Embedding(FIELDS * VOCAB, 1)
        self.register_buffer("offsets", torch.arange(FIELDS) * VOCAB)
        hs = (FIELDS,) + LAYERS
        self.convs = nn.ModuleList(nn.Conv1d(hs[i] * FIELDS, hs[i + 1], 1) for i in range(len(LAYERS)))
        self.fc = nn.Linear(sum(LAYERS), 1)

    def forward(self, ids):
        ids = ids + self.offsets
        x0 = self.emb(ids)
        h, pooled = x0, []
        for conv in self.convs:
            z = h.unsqueeze(2) * x0.unsqueeze(1)                                 # B, H, F, D
            z = z.view(z.shape[0], -1, DIM)
            h = torch.relu(conv(z))
            pooled.append(h.sum(2))
        logit = self.fc(torch.cat(pooled, 1)) + self.lin(ids).sum(1)
        return torch.sigmoid(logit.squeeze(1))


def convert(m):
    """Weights for the engine: one table for each field, kernels as [out, H, F]."""
    p = nn.ParameterDict()
    for f in range(FIELDS):
        rows = slice(f * VOCAB, (f + 1) * VOCAB)
        p[f"emb{f}"] = m.emb.weight.detach()[rows].clone()
        p[f"lin{f}"] = m.lin.weight.detach()[rows, 0].clone()
    for i, c in enumerate(m.convs):
        p[f"k{i}"] = c.weight.detach().view(c.out_channels, -1, FIELDS).clone()
        p[f"c{i}"] = c.bias.detach().clone()
    p["fc_w"], p["fc_b"] = m.fc.weight.detach()[0].clone(), m.fc.bias.detach().clone()
    return p


class Engine(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.p = convert(src)

    def forward(self, ids):
        p = self.p
        x0 = torch.stack([p[f"emb{f}"][ids[:, f]] for f in range(FIELDS)], 1)
        logit = p["fc_b"] + sum(p[f"lin{f}"][ids[:, f]] for f in range(FIELDS))
        h, at = x0, 0
        for i, width in enumerate(LAYERS):
            h = torch.einsum("bhd,bfd,ohf->bod", h, x0, p[f"k{i}"]) + p[f"c{i}"][None, :, None]
            h = h.clamp_min(0)
            logit = logit + h.sum(-1) @ p["fc_w"][at:at + width]
            at += width
        return logit.sigmoid()


left = XDeepFM()
right = Engine(left)
inputs = (torch.randint(0, VOCAB, (6, FIELDS)),)
