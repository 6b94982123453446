"""A small decision transformer: returns, states and actions in one causal sequence."""
import torch
from torch import nn
from torch.nn import functional as F

DIM, HEADS, STATE, ACTION = 8, 2, 5, 3


class DecisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_timestep = nn.Embedding(20, DIM)
        self.embed_return = nn.Linear(1, DIM)
        self.embed_state = nn.Linear(STATE, DIM)
        self.embed_action = nn.Linear(ACTION, DIM)
        self.embed_ln, self.ln_1, self.ln_2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.fc, self.fc_out = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.predict_action = nn.Linear(DIM, ACTION)
        for ln in (self.embed_ln, self.ln_1, self.ln_2):
            nn.init.normal_(ln.weight, 1.0, 0.2)
            nn.init.normal_(ln.bias, 0.0, 0.2)

    def attention(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).split(DIM, dim=2)
        q, k, v = (s.view(b, t, HEADS, DIM // HEADS).transpose(1, 2) for s in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, DIM))

    def forward(self, returns_to_go, states, actions, timesteps):
        b, t = states.shape[:2]
        time = self.embed_timestep(timesteps)
        stacked = torch.stack(
            (self.embed_return(returns_to_go) + time, self.embed_state(states) + time, self.embed_action(actions) + time), dim=1
        )
        x = self.embed_ln(stacked.permute(0, 2, 1, 3).reshape(b, 3 * t, DIM))
        x = x + self.attention(self.ln_1(x))
        x = x + self.fc_out(F.gelu(self.fc(self.ln_2(x))))
        x = x.reshape(b, t, 3, DIM).permute(0, 2, 1, 3)
        return torch.tanh(self.predict_action(x[:, 1]))


class Rewrite(DecisionTransformer):
    def attention(self, x):
        out = self.proj.bias
        hd = DIM // HEADS
        future = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), diagonal=1)
        for h in range(HEADS):
            rows = [slice(i * DIM + h * hd, i * DIM + (h + 1) * hd) for i in range(3)]
            q, k, v = (F.linear(x, self.qkv.weight[r], self.qkv.bias[r]) for r in rows)
            att = (q @ k.mT / hd**0.5).masked_fill(future, float("-inf")).softmax(-1)
            out = out + (att @ v) @ self.proj.weight[:, h * hd : (h + 1) * hd].T
        return out

    def forward(self, returns_to_go, states, actions, timesteps):
        b, t, _ = states.shape
        tokens = states.new_empty(b, 3 * t, DIM)
        tokens[:, 0::3] = self.embed_return(returns_to_go)
        tokens[:, 1::3] = self.embed_state(states)
        tokens[:, 2::3] = self.embed_action(actions)
        tokens = self.embed_ln(tokens + self.embed_timestep(timesteps).repeat_interleave(3, dim=1))
        tokens = tokens + self.attention(self.ln_1(tokens))
        h = tokens[:, 1::3]
        h = h + self.fc_out(F.gelu(self.fc(self.ln_2(h))))
        return self.predict_action(h).tanh()


left = DecisionTransformer
right = Rewrite


def inputs():
    return torch.randn(2, 4, 1), torch.randn(2, 4, STATE), torch.randn(2, 4, ACTION), torch.tensor([[0, 1, 2, 3], [9, 10, 11, 12]])
