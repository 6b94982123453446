# DIFFERENT: right swaps shift_mlp and scale_mlp (chunks 3 and 4) before the MLP. Place: second torch.addcmul(m[:, 4], ..., 1 + m[:, 3])
"""DiT block with adaLN-Zero: facebookresearch/DiT and our rewrite with fused attention."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
HID, HEADS = 16, 4


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        x = attn.softmax(dim=-1) @ v
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


class DiTBlock(nn.Module):
    def __init__(self, hidden_size=HID, num_heads=HEADS):
        super().__init__()
        self.norm1 = nn.LayerNorm(hidden_size, elementwise_affine=False, eps=1e-6)
        self.attn = Attention(hidden_size, num_heads)
        self.norm2 = nn.LayerNorm(hidden_size, elementwise_affine=False, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(hidden_size, 4 * hidden_size), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * hidden_size, hidden_size))
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(hidden_size, 6 * hidden_size))

    def forward(self, x, c):
        shift_msa, scale_msa, gate_msa, shift_mlp, scale_mlp, gate_mlp = self.adaLN_modulation(c).chunk(6, dim=1)
        x = x + gate_msa.unsqueeze(1) * self.attn(modulate(self.norm1(x), shift_msa, scale_msa))
        x = x + gate_mlp.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift_mlp, scale_mlp))
        return x


class FastDiTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.ada = nn.Linear(HID, 6 * HID)
        self.qkv = nn.Linear(HID, 3 * HID)
        self.o = nn.Linear(HID, HID)
        self.fc1 = nn.Linear(HID, 4 * HID)
        self.fc2 = nn.Linear(4 * HID, HID)

    def forward(self, x, c):
        b, n, d = x.shape
        m = self.ada(F.silu(c)).view(b, 6, 1, d)
        h = torch.addcmul(m[:, 0], F.layer_norm(x, (d,), eps=1e-6), 1 + m[:, 1])
        q, k, v = (t.view(b, n, HEADS, -1).transpose(1, 2) for t in self.qkv(h).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
        x = torch.addcmul(x, m[:, 2], self.o(a))
        h = torch.addcmul(m[:, 4], F.layer_norm(x, (d,), eps=1e-6), 1 + m[:, 3])
        return torch.addcmul(x, m[:, 5], self.fc2(F.gelu(self.fc1(h), approximate="tanh")))


left, right = DiTBlock().eval(), FastDiTBlock().eval()
for mine, theirs in [(right.ada, left.adaLN_modulation[1]), (right.qkv, left.attn.qkv), (right.o, left.attn.proj),
                     (right.fc1, left.mlp[0]), (right.fc2, left.mlp[2])]:
    mine.load_state_dict(theirs.state_dict())
inputs = {"x": torch.randn(2, 9, HID), "c": torch.randn(2, HID)}
