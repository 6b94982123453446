import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(25)
V, OOV, H, E = 12, 3, 7, 5


class PointerGenerator(nn.Module):
    """See et al. 2017: decoder state, attention over encoder states, mixture over extended ids."""

    def __init__(self):
        super().__init__()
        self.W_h = nn.Linear(2 * H, H, bias=False)
        self.W_s = nn.Linear(H, H)
        self.v = nn.Linear(H, 1, bias=False)
        self.out1 = nn.Linear(3 * H, H)
        self.out2 = nn.Linear(H, V)
        self.p_gen_linear = nn.Linear(3 * H + E, 1)

    def forward(self, s_t, enc, x_t, src_ids):
        b, n, _ = enc.size()
        feat = self.W_h(enc.view(-1, 2 * H)) + self.W_s(s_t).unsqueeze(1).expand(b, n, H).reshape(-1, H)
        scores = self.v(torch.tanh(feat)).view(-1, n)
        attn = F.softmax(scores, dim=1)
        c_t = torch.bmm(attn.unsqueeze(1), enc).view(-1, 2 * H)
        p_gen = torch.sigmoid(self.p_gen_linear(torch.cat((c_t, s_t, x_t), 1)))
        vocab = F.softmax(self.out2(self.out1(torch.cat((s_t, c_t), 1))), dim=1)
        vocab_dist_ = p_gen * vocab
        attn_dist_ = (1 - p_gen) * attn
        extra = torch.zeros(b, OOV, dtype=vocab.dtype)
        vocab_dist_ = torch.cat([vocab_dist_, extra], 1)
        return vocab_dist_.scatter_add(1, src_ids, attn_dist_), attn


class Rewrite(nn.Module):
    def __init__(self, pg):
        super().__init__()
        sd = {k.replace(".", "__"): nn.Parameter(v.clone()) for k, v in pg.state_dict().items()}
        self.p = nn.ParameterDict(sd)

    def forward(self, s_t, enc, x_t, src_ids):
        p = self.p
        keys = torch.einsum("bnk,hk->bnh", enc, p["W_h__weight"])
        query = s_t @ p["W_s__weight"].t() + p["W_s__bias"]
        attn = torch.softmax(torch.tanh(keys + query[:, None]) @ p["v__weight"][0], dim=-1)
        ctx = (attn[..., None] * enc).sum(1)
        w_c, w_s, w_x = p["p_gen_linear__weight"][0].split([2 * H, H, E])
        gate = torch.sigmoid(ctx @ w_c + s_t @ w_s + x_t @ w_x + p["p_gen_linear__bias"])[:, None]
        hidden = s_t @ p["out1__weight"][:, :H].T + ctx @ p["out1__weight"][:, H:].T + p["out1__bias"]
        gen = (hidden @ p["out2__weight"].T + p["out2__bias"]).softmax(-1)
        copy = torch.bmm(attn[:, None], F.one_hot(src_ids, V + OOV).to(attn.dtype)).squeeze(1)
        return F.pad(gate * gen, (0, OOV)) + copy - gate * copy, attn


left = PointerGenerator()
right = Rewrite(left)
inputs = (torch.randn(2, H), torch.randn(2, 6, 2 * H), torch.randn(2, E), torch.randint(0, V + OOV, (2, 6)))
