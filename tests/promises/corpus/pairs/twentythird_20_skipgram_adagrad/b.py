"""The same without autograd: errors of all pairs at once, gradients added up by index, Adagrad over the two tables."""
import torch
from a import EPSILON, RATE, SkipGram


class TrainerByHand:
    def __init__(self):
        self.model = SkipGram()
        self.squares = [torch.zeros_like(w) for w in self.model.parameters()]

    @torch.no_grad()
    def __call__(self, words, positives, negatives):
        center, context = self.model.center.weight, self.model.context.weight
        samples = torch.cat([positives[:, None], negatives], dim=1)
        labels = torch.zeros(samples.shape).index_fill_(1, torch.tensor([0]), 1.0)
        v, u = center[words], context[samples]
        scores = torch.einsum("bd,bkd->bk", v, u)
        # binary cross entropy of the scores against the labels
        loss = (torch.logaddexp(scores, torch.zeros_like(scores)) - labels * scores).sum(1).mean()
        error = (torch.sigmoid(scores) - labels) / len(words)
        of_center = torch.einsum("bk,bkd->bd", error, u)
        of_context = error[..., None] * v[:, None]
        grads = (
            torch.zeros_like(center).index_add_(0, words, of_center),
            torch.zeros_like(context).index_add_(0, samples.flatten(), of_context.flatten(0, 1)),
        )
        for weight, square, grad in zip((center, context), self.squares, grads, strict=True):
            square += grad * grad
            weight -= RATE * grad / (square.sqrt() + EPSILON)
        return loss
