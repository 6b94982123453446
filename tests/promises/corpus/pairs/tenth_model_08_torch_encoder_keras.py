# EQUAL
"""nn.TransformerEncoder as a text classifier, against the same in Keras' layout: kernels [in, heads, dim], no transposes."""
import torch
from torch import nn

VOCAB, D, H, FF, LAYERS, CLASSES, LEN = 43, 24, 3, 40, 2, 4, 16


class TorchClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, D)
        self.position = nn.Parameter(torch.randn(LEN, D) * 0.1)
        layer = nn.TransformerEncoderLayer(D, H, FF, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(D), enable_nested_tensor=False)
        self.head = nn.Linear(D, CLASSES)
        for p in self.encoder.parameters():      # nn.TransformerEncoder clones one layer
            nn.init.normal_(p, std=0.3)

    def forward(self, ids):
        x = self.token(ids) + self.position[: ids.shape[1]]
        return self.head(self.encoder(x).mean(1)).log_softmax(-1)


class EinsumDense(nn.Module):
    def __init__(self, equation, kernel, bias):
        super().__init__()
        self.equation = equation
        self.kernel = nn.Parameter(kernel.detach().clone())
        self.bias = nn.Parameter(bias.detach().clone())

    def forward(self, x):
        return torch.einsum(self.equation, x, self.kernel) + self.bias


class MultiHeadAttention(nn.Module):
    def __init__(self, mha):
        super().__init__()
        wq, wk, wv = mha.in_proj_weight.view(3, H, D // H, D).permute(0, 3, 1, 2)
        bq, bk, bv = mha.in_proj_bias.view(3, H, D // H)
        self.query = EinsumDense("btd,dhk->bthk", wq, bq)
        self.key = EinsumDense("btd,dhk->bthk", wk, bk)
        self.value = EinsumDense("btd,dhk->bthk", wv, bv)
        self.output = EinsumDense("bthk,hkd->btd", mha.out_proj.weight.T.reshape(H, D // H, D), mha.out_proj.bias)

    def forward(self, x):
        query = self.query(x) * (D // H) ** -0.5
        scores = torch.einsum("bshk,bthk->bhts", self.key(x), query)
        return self.output(torch.einsum("bhts,bshk->bthk", scores.softmax(-1), self.value(x)))


class LayerNormalization(nn.Module):
    def __init__(self, ln):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(ln.weight.detach().clone()), nn.Parameter(ln.bias.detach().clone())

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x * x).mean(-1, keepdim=True) - mean * mean
        inv = torch.rsqrt(variance + 1e-5) * self.gamma
        return x * inv + (self.beta - mean * inv)


class EncoderBlock(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.ln1, self.ln2 = LayerNormalization(layer.norm1), LayerNormalization(layer.norm2)
        self.mha = MultiHeadAttention(layer.self_attn)
        self.dense1 = EinsumDense("btd,df->btf", layer.linear1.weight.T, layer.linear1.bias)
        self.dense2 = EinsumDense("btf,fd->btd", layer.linear2.weight.T, layer.linear2.bias)

    def forward(self, x):
        x = x + self.mha(self.ln1(x))
        h = self.dense1(self.ln2(x))
        h = 0.5 * h * (1 + torch.erf(h / 2**0.5))
        return x + self.dense2(h)


class KerasClassifier(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.table = nn.Parameter(source.token.weight.detach().clone())
        self.position = nn.Parameter(source.position.detach().clone())
        self.blocks = nn.Sequential(*[EncoderBlock(layer) for layer in source.encoder.layers])
        self.norm = LayerNormalization(source.encoder.norm)
        self.kernel = nn.Parameter(source.head.weight.detach().T.contiguous())
        self.bias = nn.Parameter(source.head.bias.detach().clone())

    def forward(self, ids):
        x = self.blocks(self.table[ids] + self.position[None, : ids.shape[1]])
        logits = self.norm(x).mean(1) @ self.kernel + self.bias
        return logits - logits.logsumexp(-1, keepdim=True)


left = TorchClassifier().eval()
right = KerasClassifier(left).eval()


def inputs():
    return (torch.randint(0, VOCAB, (3, 8)),)
