import torch
import torch.nn.functional as F

VOCAB = 23
FREQ, PRES = 0.7, 0.4


def apply_penalties(logits, output_ids):
    """Counts in a bin per token id, as a serving engine keeps them."""
    b, v = logits.shape
    counts = torch.zeros(b, v, dtype=torch.long, device=logits.device)
    counts.scatter_add_(1, output_ids, torch.ones_like(output_ids))
    seen = counts > 0
    out = logits.clone()
    out -= FREQ * counts
    out -= PRES * seen
    return out.log_softmax(dim=-1)


def apply_penalties_loop(logits, output_ids):
    freq = torch.zeros_like(logits)
    pres = torch.zeros_like(logits)
    for t in range(output_ids.shape[1]):
        hit = F.one_hot(output_ids[:, t], logits.shape[-1]).to(logits.dtype)
        freq = freq + hit
        pres = torch.maximum(pres, hit)
    scores = logits - FREQ * freq - PRES * pres
    return scores - torch.logsumexp(scores, dim=-1, keepdim=True)


left, right = apply_penalties, apply_penalties_loop
torch.manual_seed(3)
inputs = (torch.randn(3, VOCAB), torch.randint(0, VOCAB, (3, 6)))
