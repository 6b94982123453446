# EQUAL
"""nn.TransformerDecoderLayer (pre-norm, causal, padded memory), and the layer as our inference engine has it."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(17)
D, H, FF = 16, 4, 32


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(D, H, FF, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)

    def forward(self, tgt, memory, memory_padding):
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.layer(tgt, memory, tgt_mask=causal, memory_key_padding_mask=memory_padding, tgt_is_causal=True)


def attend(q, k, v, mask=None):
    b, t, _ = q.shape
    q, k, v = (z.reshape(b, -1, H, D // H).permute(0, 2, 1, 3) for z in (q, k, v))
    s = torch.matmul(q, k.mT) * (D // H) ** -0.5
    if mask is not None:
        s = s.masked_fill(mask, -torch.inf)
    return torch.matmul(s.softmax(-1), v).permute(0, 2, 1, 3).reshape(b, t, D)


class EngineLayer(nn.Module):
    def __init__(self, layer):
        super().__init__()
        state = layer.state_dict()
        self.self_qkv = nn.Linear(D, 3 * D)
        self.self_out = nn.Linear(D, D)
        self.cross_q = nn.Linear(D, D)
        self.cross_kv = nn.Linear(D, 2 * D)
        self.cross_out = nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, FF), nn.Linear(FF, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3))
        with torch.no_grad():
            for name, mine in [("self_attn.in_proj_", self.self_qkv)]:
                mine.weight.copy_(state[name + "weight"])
                mine.bias.copy_(state[name + "bias"])
            self.cross_q.weight.copy_(state["multihead_attn.in_proj_weight"][:D])
            self.cross_q.bias.copy_(state["multihead_attn.in_proj_bias"][:D])
            self.cross_kv.weight.copy_(state["multihead_attn.in_proj_weight"][D:])
            self.cross_kv.bias.copy_(state["multihead_attn.in_proj_bias"][D:])
        self.self_out.load_state_dict(layer.self_attn.out_proj.state_dict())
        self.cross_out.load_state_dict(layer.multihead_attn.out_proj.state_dict())
        self.up.load_state_dict(layer.linear1.state_dict())
        self.down.load_state_dict(layer.linear2.state_dict())
        for mine, theirs in zip(self.norms, (layer.norm1, layer.norm2, layer.norm3)):
            mine.load_state_dict(theirs.state_dict())

    def forward(self, tgt, memory, memory_padding):
        t = tgt.shape[1]
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        x = tgt
        x = x + self.self_out(attend(*self.self_qkv(self.norms[0](x)).chunk(3, -1), mask=future))
        k, v = self.cross_kv(memory).chunk(2, -1)
        x = x + self.cross_out(attend(self.cross_q(self.norms[1](x)), k, v, mask=memory_padding[:, None, None, :]))
        return x + self.down(F.gelu(self.up(self.norms[2](x))))


left = Decoder().eval()
with torch.no_grad():
    for p in left.parameters():                      # as if trained
        p.add_(0.1 * torch.randn_like(p))
right = EngineLayer(left.layer).eval()
memory_padding = torch.tensor([[False, False, False, False, False], [False, False, False, True, True]])
inputs = (torch.randn(2, 4, D), torch.randn(2, 5, D), memory_padding)
