import torch
from torch import nn

torch.manual_seed(116)


class MixtureOfSoftmaxes(nn.Module):
    def __init__(self, hidden=6, d=5, vocab=7, k=3):
        super().__init__()
        self.k, self.d = k, d
        self.prior = nn.Linear(hidden, k, bias=False)
        self.latent = nn.Linear(hidden, k * d)
        self.decoder = nn.Linear(d, vocab)

    def forward(self, h):
        b, t, _ = h.shape
        latent = torch.tanh(self.latent(h)).view(-1, self.d)
        prob = torch.softmax(self.decoder(latent), dim=-1).view(-1, self.k, self.decoder.out_features)
        prior = torch.softmax(self.prior(h).view(-1, self.k), dim=-1)
        mixed = (prob * prior.unsqueeze(2).expand_as(prob)).sum(dim=1)
        return mixed.log().view(b, t, -1)


class LogMixture(nn.Module):
    """The same in logarithms, which does not underflow in half precision."""

    def __init__(self, hidden=6, d=5, vocab=7, k=3):
        super().__init__()
        self.k, self.d = k, d
        self.prior = nn.Linear(hidden, k, bias=False)
        self.latent = nn.Linear(hidden, k * d)
        self.decoder = nn.Linear(d, vocab)

    def forward(self, h):
        z = self.latent(h).tanh().unflatten(-1, (self.k, self.d))
        log_prob = self.decoder(z).log_softmax(dim=-1)
        log_prior = self.prior(h).log_softmax(dim=-1)
        return torch.logsumexp(log_prob + log_prior[..., None], dim=-2)


left = MixtureOfSoftmaxes()
right = LogMixture()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 3, 6),)
