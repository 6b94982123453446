"""SASRec: the sequence recommender as trained, and a faster forward for candidates."""
import torch
from torch import nn
from torch.nn import functional as F

ITEMS, D, MAXLEN, BLOCKS = 15, 8, 10, 2
B, T, CAND = 3, 6, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        for norm in (self.norm1, self.norm2):
            nn.init.normal_(norm.weight, 1.0, 0.1)
            nn.init.normal_(norm.bias, 0.0, 0.1)
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.conv1, self.conv2 = nn.Conv1d(D, D, 1), nn.Conv1d(D, D, 1)


class SASRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.item_emb = nn.Embedding(ITEMS + 1, D)
        self.pos_emb = nn.Embedding(MAXLEN, D)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))

    def forward(self, log_seqs, candidates):
        b, t = log_seqs.shape
        seqs = self.item_emb(log_seqs) * D**0.5 + self.pos_emb(torch.arange(t))
        timeline_mask = (log_seqs == 0).unsqueeze(-1)
        seqs = seqs * ~timeline_mask
        attention_mask = ~torch.tril(torch.ones((t, t), dtype=torch.bool))
        for block in self.blocks:
            q = block.norm1(seqs)
            scores = block.q(q) @ block.k(seqs).transpose(1, 2) / D**0.5
            weights = scores.masked_fill(attention_mask, float("-inf")).softmax(-1)
            seqs = q + weights @ block.v(seqs)
            seqs = block.norm2(seqs)
            inner = torch.relu(block.conv1(seqs.transpose(1, 2)))
            seqs = seqs + block.conv2(inner).transpose(1, 2)
            seqs = seqs * ~timeline_mask
        return (self.item_emb(candidates) @ seqs[:, -1].unsqueeze(-1)).squeeze(-1)


class Fast(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.items, self.positions, self.blocks = model.item_emb, model.pos_emb, model.blocks

    def forward(self, log_seqs, candidates):
        keep = (log_seqs != 0)[..., None].to(self.items.weight.dtype)
        x = (self.items(log_seqs) * D**0.5 + self.positions.weight[: log_seqs.shape[1]]) * keep
        for block in self.blocks:
            q = block.norm1(x)
            h = q + F.scaled_dot_product_attention(block.q(q), block.k(x), block.v(x), is_causal=True)
            h = block.norm2(h)
            up = F.linear(h, block.conv1.weight[:, :, 0], block.conv1.bias).relu()
            x = h + F.linear(up, block.conv2.weight[:, :, 0], block.conv2.bias)
        x = x * keep
        return torch.einsum("bcd,bd->bc", self.items(candidates), x[:, -1])


left = SASRec()
right = Fast(left)


def inputs():
    seqs = torch.randint(1, ITEMS + 1, (B, T))
    seqs[0, :3] = 0
    seqs[1, :1] = 0
    return seqs, torch.randint(1, ITEMS + 1, (B, CAND))
