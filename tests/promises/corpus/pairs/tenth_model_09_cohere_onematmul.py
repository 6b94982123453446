# EQUAL
"""Command-R's parallel block with one matmul for q, k, v, gate and up, one for the way back, rotary by complex
multiplication (Cohere interleaves, so nothing has to be permuted), and the logit scale inside the last norm."""
import torch
import torch.nn.functional as F
from torch import nn
from transformers import CohereConfig, CohereForCausalLM

DIM, N_Q, N_KV, HEAD, FFN = 32, 4, 2, 8, 40

config = CohereConfig(
    vocab_size=50, hidden_size=DIM, intermediate_size=FFN, num_hidden_layers=2, num_attention_heads=N_Q,
    num_key_value_heads=N_KV, max_position_embeddings=64, logit_scale=0.0625, use_qk_norm=False, use_cache=False,
    pad_token_id=0, bos_token_id=1, eos_token_id=2,
)


def layer_norm(x, scale):
    return F.layer_norm(x, x.shape[-1:], scale, None, config.layer_norm_eps)


class ParallelBlock(nn.Module):
    widths = (N_Q * HEAD, N_KV * HEAD, N_KV * HEAD, FFN, FFN)

    def __init__(self, block):
        super().__init__()
        a, m = block.self_attn, block.mlp
        self.scale = nn.Parameter(block.input_layernorm.weight.detach().clone())
        ins = [a.q_proj, a.k_proj, a.v_proj, m.gate_proj, m.up_proj]
        self.w_in = nn.Parameter(torch.cat([p.weight.detach() for p in ins]))
        self.w_out = nn.Parameter(torch.cat([a.o_proj.weight.detach(), m.down_proj.weight.detach()], dim=1))

    def forward(self, x, turn):
        B, T, _ = x.shape
        q, k, v, gate, up = F.linear(layer_norm(x, self.scale), self.w_in).split(self.widths, dim=-1)
        q = self.rotate(q.view(B, T, N_KV, N_Q // N_KV, HEAD), turn[:, None, None])
        k = self.rotate(k.view(B, T, N_KV, HEAD), turn[:, None])
        v = v.view(B, T, N_KV, HEAD)
        scores = torch.einsum("btngd,bsnd->bngts", q, k) * HEAD**-0.5
        scores = scores + torch.full((T, T), float("-inf")).triu(1)
        mixed = torch.einsum("bngts,bsnd->btngd", scores.softmax(-1), v).reshape(B, T, N_Q * HEAD)
        return x + F.linear(torch.cat([mixed, F.silu(gate) * up], -1), self.w_out)

    @staticmethod
    def rotate(x, turn):
        z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(z * turn).flatten(-2)


class CommandR(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.table = nn.Parameter(source.model.embed_tokens.weight.detach().clone())
        self.blocks = nn.ModuleList(ParallelBlock(b) for b in source.model.layers)
        self.last = nn.Parameter(source.model.norm.weight.detach() * config.logit_scale)
        self.theta = config.rope_parameters["rope_theta"]

    def forward(self, ids):
        x = F.embedding(ids, self.table)
        rate = self.theta ** -(torch.arange(0, HEAD, 2) / HEAD)
        angle = torch.arange(ids.shape[1])[:, None] * rate
        turn = torch.complex(angle.cos(), angle.sin())
        for block in self.blocks:
            x = block(x, turn)
        return layer_norm(x, self.last) @ self.table.T


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = CohereForCausalLM(config)

    def forward(self, ids):
        return self.m(ids).logits


left = Original().eval()
right = CommandR(left.m).eval()
inputs = (torch.randint(3, 50, (2, 7)),)
