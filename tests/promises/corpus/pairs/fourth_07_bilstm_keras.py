# EQUAL
"""BiLSTM tagger: torch.nn.LSTM, and a port with the weights as Keras keeps them (kernel, recurrent_kernel, one bias)."""
import torch
from torch import nn

torch.manual_seed(7)
V, E, H, TAGS = 20, 8, 6, 4


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, E)
        self.lstm = nn.LSTM(E, H, batch_first=True, bidirectional=True)
        self.cls = nn.Linear(2 * H, TAGS)

    def forward(self, tokens):
        out, _ = self.lstm(self.emb(tokens))
        return self.cls(out).log_softmax(-1)


class KerasLSTM(nn.Module):
    def __init__(self, kernel, recurrent_kernel, bias, reverse=False):
        super().__init__()
        self.kernel = nn.Parameter(kernel)
        self.recurrent_kernel = nn.Parameter(recurrent_kernel)
        self.bias = nn.Parameter(bias)
        self.reverse = reverse

    def forward(self, x):
        units = self.recurrent_kernel.shape[0]
        steps = list(x.unbind(1))
        if self.reverse:
            steps.reverse()
        h = c = torch.zeros(x.shape[0], units)
        hs = []
        for x_t in steps:
            z = x_t @ self.kernel + h @ self.recurrent_kernel + self.bias
            i, f, g, o = z.split(units, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            hs.append(h)
        if self.reverse:
            hs.reverse()
        return torch.stack(hs, dim=1)


class KerasTagger(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.embeddings = nn.Parameter(t.emb.weight.detach().clone())
        l = t.lstm
        self.forward_layer = KerasLSTM(l.weight_ih_l0.detach().T.clone(), l.weight_hh_l0.detach().T.clone(),
                                       (l.bias_ih_l0 + l.bias_hh_l0).detach())
        self.backward_layer = KerasLSTM(l.weight_ih_l0_reverse.detach().T.clone(), l.weight_hh_l0_reverse.detach().T.clone(),
                                        (l.bias_ih_l0_reverse + l.bias_hh_l0_reverse).detach(), reverse=True)
        self.kernel = nn.Parameter(t.cls.weight.detach().T.clone())
        self.bias = nn.Parameter(t.cls.bias.detach().clone())

    def forward(self, tokens):
        x = self.embeddings[tokens]
        h = torch.cat([self.forward_layer(x), self.backward_layer(x)], dim=-1)
        logits = h @ self.kernel + self.bias
        return logits - logits.logsumexp(-1, keepdim=True)


left = Tagger().eval()
right = KerasTagger(left).eval()
inputs = (torch.randint(V, (3, 5)),)
