# EQUAL. BERT layer written by hand (HF names) vs nn.TransformerEncoderLayer(norm_first=False)
import math
import torch
import torch.nn as nn

H, NH, FF = 20, 4, 36


class BertSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(H, H)
        self.key = nn.Linear(H, H)
        self.value = nn.Linear(H, H)

    def transpose_for_scores(self, x):
        x = x.view(x.size()[:-1] + (NH, H // NH))
        return x.permute(0, 2, 1, 3)

    def forward(self, h):
        q, k, v = map(self.transpose_for_scores, (self.query(h), self.key(h), self.value(h)))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(H // NH)
        p = nn.functional.softmax(s, dim=-1)
        c = torch.matmul(p, v).permute(0, 2, 1, 3).contiguous()
        return c.view(c.size()[:-2] + (H,))


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = BertSelfAttention()
        self.attention_output = nn.Linear(H, H)
        self.LayerNorm1 = nn.LayerNorm(H, eps=1e-12)
        self.intermediate = nn.Linear(H, FF)
        self.output = nn.Linear(FF, H)
        self.LayerNorm2 = nn.LayerNorm(H, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, h):
        a = self.dropout(self.attention_output(self.attention(h)))
        a = self.LayerNorm1(a + h)
        i = self.intermediate(a)
        i = i * 0.5 * (1.0 + torch.erf(i / math.sqrt(2.0)))
        return self.LayerNorm2(self.dropout(self.output(i)) + a)


torch.manual_seed(3)
left = BertLayer().eval()
for p in left.parameters():
    p.data += 0.1 * torch.randn_like(p)


def convert(b):
    t = nn.TransformerEncoderLayer(H, NH, FF, dropout=0.1, activation="gelu", layer_norm_eps=1e-12, batch_first=True)
    a = b.attention
    t.load_state_dict({
        "self_attn.in_proj_weight": torch.cat([a.query.weight, a.key.weight, a.value.weight]),
        "self_attn.in_proj_bias": torch.cat([a.query.bias, a.key.bias, a.value.bias]),
        "self_attn.out_proj.weight": b.attention_output.weight, "self_attn.out_proj.bias": b.attention_output.bias,
        "linear1.weight": b.intermediate.weight, "linear1.bias": b.intermediate.bias,
        "linear2.weight": b.output.weight, "linear2.bias": b.output.bias,
        "norm1.weight": b.LayerNorm1.weight, "norm1.bias": b.LayerNorm1.bias,
        "norm2.weight": b.LayerNorm2.weight, "norm2.bias": b.LayerNorm2.bias})
    return t.eval()


right = convert(left)
inputs = {"h": torch.randn(2, 5, H)}
inputs = (inputs["h"],)
