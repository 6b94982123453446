import math

import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

torch.manual_seed(7)
config = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=40,
    attn_implementation="eager",
)
bert = BertModel(config).eval()
for p in bert.parameters():  # trained weights are never all ones or zeros
    p.data.add_(0.1 * torch.randn_like(p))


class Reference(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.bert = model

    def forward(self, input_ids, token_type_ids):
        out = self.bert(input_ids=input_ids, token_type_ids=token_type_ids)
        return out.last_hidden_state, out.pooler_output


class TinyBert(nn.Module):
    """No classes, only a flat table of weights."""

    def __init__(self, model, n_head=4):
        super().__init__()
        sd = {k: v.detach().clone() for k, v in model.state_dict().items()}
        self.n_head = n_head
        self.n_layer = model.config.num_hidden_layers
        self.w = nn.ParameterDict()
        put = lambda name, t: self.w.__setitem__(name, nn.Parameter(t))
        put("wte", sd["embeddings.word_embeddings.weight"])
        put("wpe", sd["embeddings.position_embeddings.weight"])
        put("wtt", sd["embeddings.token_type_embeddings.weight"])
        put("ln_e_g", sd["embeddings.LayerNorm.weight"])
        put("ln_e_b", sd["embeddings.LayerNorm.bias"])
        for i in range(self.n_layer):
            pre = f"encoder.layer.{i}."
            a = pre + "attention.self."
            put(f"{i}_qkv_w", torch.cat([sd[a + f"{n}.weight"] for n in ("query", "key", "value")]))
            put(f"{i}_qkv_b", torch.cat([sd[a + f"{n}.bias"] for n in ("query", "key", "value")]))
            for short, long in [
                ("o", "attention.output.dense"),
                ("ln1", "attention.output.LayerNorm"),
                ("fc1", "intermediate.dense"),
                ("fc2", "output.dense"),
                ("ln2", "output.LayerNorm"),
            ]:
                put(f"{i}_{short}_w", sd[pre + long + ".weight"])
                put(f"{i}_{short}_b", sd[pre + long + ".bias"])
        put("pool_w", sd["pooler.dense.weight"])
        put("pool_b", sd["pooler.dense.bias"])

    def norm(self, x, g, b):
        mu = x.mean(-1, keepdim=True)
        var = ((x - mu) ** 2).mean(-1, keepdim=True)
        return (x - mu) / torch.sqrt(var + 1e-12) * g + b

    def forward(self, input_ids, token_type_ids):
        w = self.w
        B, T = input_ids.shape
        x = w["wte"][input_ids] + w["wpe"][:T] + w["wtt"][token_type_ids]
        x = self.norm(x, w["ln_e_g"], w["ln_e_b"])
        for i in range(self.n_layer):
            qkv = F.linear(x, w[f"{i}_qkv_w"], w[f"{i}_qkv_b"])
            q, k, v = qkv.view(B, T, 3, self.n_head, -1).permute(2, 0, 3, 1, 4)
            att = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.shape[-1])
            ctx = torch.einsum("bhij,bhjd->bihd", att.softmax(-1), v).flatten(2)
            x = self.norm(x + F.linear(ctx, w[f"{i}_o_w"], w[f"{i}_o_b"]), w[f"{i}_ln1_w"], w[f"{i}_ln1_b"])
            h = F.linear(x, w[f"{i}_fc1_w"], w[f"{i}_fc1_b"])
            h = 0.5 * h * (1.0 + torch.erf(h / math.sqrt(2.0)))
            x = self.norm(x + F.linear(h, w[f"{i}_fc2_w"], w[f"{i}_fc2_b"]), w[f"{i}_ln2_w"], w[f"{i}_ln2_b"])
        pooled = torch.tanh(F.linear(x[:, 0], w["pool_w"], w["pool_b"]))
        return x, pooled


left = Reference(bert)
right = TinyBert(bert).eval()


def inputs():
    return {"input_ids": torch.randint(0, 60, (2, 9)), "token_type_ids": torch.randint(0, 2, (2, 9))}
