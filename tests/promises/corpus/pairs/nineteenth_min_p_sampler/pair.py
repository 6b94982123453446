"""Min-p sampling with a temperature and a threshold for each request; the noise of the draw is given."""
import torch


def by_probabilities(logits, log_temperature, level, noise):
    probs = torch.softmax(logits / log_temperature.exp()[:, None], dim=-1)
    threshold = torch.sigmoid(level)[:, None] * probs.max(dim=-1, keepdim=True).values
    probs = torch.where(probs < threshold, torch.zeros_like(probs), probs)
    probs = probs / probs.sum(dim=-1, keepdim=True)
    exponential = -torch.nn.functional.logsigmoid(noise)            # of a uniform number that is given as a logit
    return probs, (probs / exponential).argmax(-1)


def by_logits(logits, log_temperature, level, noise):
    scaled = logits * torch.exp(-log_temperature).unsqueeze(1)
    floor = scaled.amax(-1, keepdim=True) + torch.nn.functional.logsigmoid(level).unsqueeze(1)
    kept = scaled.masked_fill(scaled < floor, float("-inf"))
    probs = kept.softmax(-1)
    return probs, (probs / torch.nn.functional.softplus(-noise)).argmax(-1)


def inputs():
    return 2 * torch.randn(3, 7), 0.2 * torch.randn(3), torch.randn(3) - 2, torch.randn(3, 7)
