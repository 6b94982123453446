"""The penalties of a serving engine: vLLM's scatter_add against a one-hot count."""
import torch
from torch.nn import functional as F


def left(logits, prompt, output, repetition, frequency, presence):
    b, v = logits.shape

    def count(ids):
        bins = torch.zeros(b, v, dtype=torch.long)
        bins.scatter_add_(1, ids, torch.ones_like(ids))
        return bins, bins > 0

    _, in_prompt = count(prompt)
    counts, in_output = count(output)
    factor = torch.where(in_prompt | in_output, repetition[:, None], torch.ones_like(logits))
    logits = logits * torch.where(logits > 0, 1.0 / factor, factor)
    logits = logits - frequency[:, None] * counts
    logits = logits - presence[:, None] * in_output
    return logits


def right(logits, prompt, output, repetition, frequency, presence):
    v = logits.shape[1]
    counts = F.one_hot(output, v).sum(1)
    seen = F.one_hot(torch.cat([prompt, output], dim=1), v).amax(1).to(torch.bool)
    r = repetition.unsqueeze(1)
    punished = torch.where(logits > 0, logits / r, logits * r)
    out = torch.where(seen, punished, logits)
    return out - (frequency.unsqueeze(1) * counts + presence.unsqueeze(1) * counts.clamp(max=1))


inputs = (
    torch.randn(3, 13), torch.randint(0, 13, (3, 5)), torch.randint(0, 13, (3, 4)),
    torch.rand(3) + 1.0, torch.rand(3), torch.rand(3),
)
