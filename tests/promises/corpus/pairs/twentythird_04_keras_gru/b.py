"""The same in the layout of Keras (reset_after=True): kernels [in, 3 * units], gates in the order z, r, h, bias [2, 3 * units]."""
import torch
from a import HIDDEN, Tagger
from torch import nn


def keras_order(weight):
    """Rows r, z, n of torch to columns z, r, h of Keras."""
    reset, update, new = weight.detach().chunk(3, dim=0)
    return torch.cat([update, reset, new], dim=0)


class KerasGRU(nn.Module):
    def __init__(self, gru):
        super().__init__()
        self.kernel = nn.Parameter(keras_order(gru.weight_ih_l0).t().contiguous())
        self.recurrent_kernel = nn.Parameter(keras_order(gru.weight_hh_l0).t().contiguous())
        self.bias = nn.Parameter(torch.stack([keras_order(gru.bias_ih_l0), keras_order(gru.bias_hh_l0)]))

    def step(self, projected, h):
        x_z, x_r, x_h = projected.split(HIDDEN, dim=-1)
        h_z, h_r, h_h = (h @ self.recurrent_kernel + self.bias[1]).split(HIDDEN, dim=-1)
        z = torch.sigmoid(x_z + h_z)
        r = torch.sigmoid(x_r + h_r)
        candidate = torch.tanh(x_h + r * h_h)
        return z * h + (1 - z) * candidate

    def forward(self, x):
        projected = x @ self.kernel + self.bias[0]
        h = x.new_zeros(x.shape[0], HIDDEN)
        states = []
        for t in range(x.shape[1]):
            h = self.step(projected[:, t], h)
            states.append(h)
        return torch.stack(states, dim=1), h


class KerasTagger(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Tagger()
        self.embeddings = nn.Parameter(theirs.embedding.weight.detach().clone())
        self.gru = KerasGRU(theirs.gru)
        self.tag_kernel = nn.Parameter(theirs.tag.weight.detach().t().contiguous())
        self.tag_bias = nn.Parameter(theirs.tag.bias.detach().clone())
        self.doc_kernel = nn.Parameter(theirs.document.weight.detach().t().contiguous())
        self.doc_bias = nn.Parameter(theirs.document.bias.detach().clone())

    def forward(self, tokens):
        states, last = self.gru(self.embeddings[tokens])
        logits = last @ self.doc_kernel + self.doc_bias
        document = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
        return {"tags": states @ self.tag_kernel + self.tag_bias, "document": document}
