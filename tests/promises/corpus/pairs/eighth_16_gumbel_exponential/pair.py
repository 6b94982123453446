import torch
import torch.nn.functional as F

TEMPERATURE = 0.7


def gumbel_max(logits, u):
    u = u.clamp(1e-6, 1 - 1e-6)
    z = logits / TEMPERATURE
    token = torch.argmax(z - torch.log(-torch.log(u)), dim=-1, keepdim=True)
    return token, torch.gather(F.log_softmax(z, dim=-1), 1, token)


def exponential_race(logits, u):
    """The sync-free multinomial of fast decoders: argmax p / e with e ~ Exp(1)."""
    probs = F.softmax(logits / max(TEMPERATURE, 1e-5), dim=-1)
    e = -u.clamp(1e-6, 1 - 1e-6).log()
    idx = (probs / e).argmax(-1)
    chosen = torch.take_along_dim(probs, idx[:, None], dim=-1)
    return idx[:, None].to(torch.int64), chosen.log()


left, right = gumbel_max, exponential_race
torch.manual_seed(26)
inputs = (torch.randn(5, 19), torch.rand(5, 19))
