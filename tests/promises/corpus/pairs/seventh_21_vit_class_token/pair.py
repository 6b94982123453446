import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(121)
D, HEADS, PATCH, CLASSES = 8, 2, 2, 5


class ViT(nn.Module):
    def __init__(self, side=6):
        super().__init__()
        self.patch = nn.Conv2d(3, D, PATCH, stride=PATCH)
        self.cls = nn.Parameter(torch.randn(1, 1, D))
        self.pos = nn.Parameter(torch.randn(1, (side // PATCH) ** 2 + 1, D))
        self.block = nn.TransformerEncoderLayer(
            D, HEADS, 12, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
        )
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, CLASSES)
        for p in self.parameters():
            nn.init.normal_(p, std=0.5)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        return self.head(self.norm(self.block(x))[:, 0])


class ByHand(nn.Module):
    def __init__(self, vit):
        super().__init__()
        for name, m in [("q", 0), ("k", 1), ("v", 2)]:
            lin = nn.Linear(D, D)
            lin.weight.data = vit.block.self_attn.in_proj_weight.data.chunk(3)[m].clone()
            lin.bias.data = vit.block.self_attn.in_proj_bias.data.chunk(3)[m].clone()
            setattr(self, name, lin)
        self.embed = nn.Linear(3 * PATCH * PATCH, D)
        self.embed.weight.data = vit.patch.weight.data.permute(0, 2, 3, 1).flatten(1)
        self.embed.bias.data = vit.patch.bias.data.clone()
        self.cls = nn.Parameter(vit.cls.data.flatten().clone())
        self.pos = nn.Parameter(vit.pos.data[0].clone())
        self.o, self.up, self.down = nn.Linear(D, D), nn.Linear(D, 12), nn.Linear(12, D)
        self.ln1, self.ln2, self.ln, self.head = nn.LayerNorm(D), nn.LayerNorm(D), nn.LayerNorm(D), nn.Linear(D, CLASSES)
        b = vit.block
        for mine, theirs in [(self.o, b.self_attn.out_proj), (self.up, b.linear1), (self.down, b.linear2),
                             (self.ln1, b.norm1), (self.ln2, b.norm2), (self.ln, vit.norm), (self.head, vit.head)]:
            mine.load_state_dict(theirs.state_dict())

    def forward(self, x):
        n, c, h, w = x.shape
        x = x.view(n, c, h // PATCH, PATCH, w // PATCH, PATCH).permute(0, 2, 4, 3, 5, 1)
        x = self.embed(x.reshape(n, -1, PATCH * PATCH * c)) + self.pos[1:]
        first = (self.cls + self.pos[0]).repeat(n, 1, 1)
        x = torch.cat([first, x], dim=1)
        y = self.ln1(x)
        q, k, v = (f(y).unflatten(-1, (HEADS, -1)) for f in (self.q, self.k, self.v))
        a = torch.einsum("nihd,njhd->nhij", q * (D // HEADS) ** -0.5, k).softmax(dim=-1)
        x = x + self.o(torch.einsum("nhij,njhd->nihd", a, v).flatten(2))
        first = x[:, 0]                              # only the class token is read from here on
        first = first + self.down(F.gelu(self.up(self.ln2(first))))
        return self.head(self.ln(first))


left = ViT().eval()
right = ByHand(left).eval()
inputs = (torch.randn(2, 3, 6, 6),)
