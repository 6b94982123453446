# EQUAL
"""ALBERT: one layer, applied again and again. Fused q, k, v; padding mask as an additive bias made once."""
import math

import torch
from torch import nn
from transformers import AlbertConfig, AlbertModel

config = AlbertConfig(
    vocab_size=59, embedding_size=16, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=48,
    max_position_embeddings=20, type_vocab_size=2, attn_implementation="eager",
)


class HF(nn.Module):
    def __init__(self):
        super().__init__()
        self.albert = AlbertModel(config)

    def forward(self, input_ids, attention_mask, token_type_ids):
        out = self.albert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return {"tokens": out.last_hidden_state, "pooled": out.pooler_output}


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


class SharedLayer(nn.Module):
    def __init__(self, hidden, heads, ffn, eps):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.proj = nn.Linear(hidden, hidden)
        self.norm_attention = nn.LayerNorm(hidden, eps=eps)
        self.up, self.down = nn.Linear(hidden, ffn), nn.Linear(ffn, hidden)
        self.norm_ffn = nn.LayerNorm(hidden, eps=eps)

    def forward(self, x, bias):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.mT / math.sqrt(C // self.heads) + bias, -1)
        x = self.norm_attention(x + self.proj((weights @ v).transpose(1, 2).reshape(B, T, C)))
        return self.norm_ffn(x + self.down(gelu_new(self.up(x))))


class Albert(nn.Module):
    def __init__(self, source):
        super().__init__()
        c = config
        self.depth = c.num_hidden_layers
        self.words = nn.Embedding(c.vocab_size, c.embedding_size)
        self.places = nn.Embedding(c.max_position_embeddings, c.embedding_size)
        self.segments = nn.Embedding(c.type_vocab_size, c.embedding_size)
        self.norm = nn.LayerNorm(c.embedding_size, eps=c.layer_norm_eps)
        self.widen = nn.Linear(c.embedding_size, c.hidden_size)
        self.layer = SharedLayer(c.hidden_size, c.num_attention_heads, c.intermediate_size, c.layer_norm_eps)
        self.pooler = nn.Linear(c.hidden_size, c.hidden_size)
        self.load(source)

    @torch.no_grad()
    def load(self, m):
        pairs = [
            (self.words, m.embeddings.word_embeddings), (self.places, m.embeddings.position_embeddings),
            (self.segments, m.embeddings.token_type_embeddings), (self.norm, m.embeddings.LayerNorm),
            (self.widen, m.encoder.embedding_hidden_mapping_in), (self.pooler, m.pooler),
        ]
        theirs = m.encoder.albert_layer_groups[0].albert_layers[0]
        pairs += [
            (self.layer.proj, theirs.attention.dense), (self.layer.norm_attention, theirs.attention.LayerNorm),
            (self.layer.up, theirs.ffn), (self.layer.down, theirs.ffn_output),
            (self.layer.norm_ffn, theirs.full_layer_layer_norm),
        ]
        for mine, other in pairs:
            mine.load_state_dict(other.state_dict())
        a = theirs.attention
        self.layer.qkv.weight.copy_(torch.cat([a.query.weight, a.key.weight, a.value.weight]))
        self.layer.qkv.bias.copy_(torch.cat([a.query.bias, a.key.bias, a.value.bias]))

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.words(input_ids) + self.segments(token_type_ids)
        x = self.widen(self.norm(x + self.places.weight[: input_ids.shape[1]]))
        low = torch.finfo(x.dtype).min
        bias = torch.where(attention_mask.bool(), 0.0, low)[:, None, None, :]
        for _ in range(self.depth):
            x = self.layer(x, bias)
        return {"tokens": x, "pooled": torch.tanh(self.pooler(x[:, 0]))}


left = HF().eval()
right = Albert(left.albert).eval()
inputs = {
    "input_ids": torch.randint(0, 59, (3, 6)),
    "attention_mask": torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]]),
    "token_type_ids": torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 0]]),
}
