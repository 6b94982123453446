"""The same with the path's score at once, and the normaliser as scaled matrix products."""
import torch

from a import CRF


class Fast(CRF):
    def score(self, emissions, tags, mask):
        kept = mask.to(emissions.dtype)
        kept = torch.cat((torch.ones_like(kept[:, :1]), kept[:, 1:]), dim=1)
        local = emissions.gather(2, tags.unsqueeze(2)).squeeze(2)
        pairs = self.transitions[tags[:, :-1], tags[:, 1:]]
        last = tags[torch.arange(tags.shape[0]), mask.sum(1) - 1]
        return (local * kept).sum(1) + (pairs * kept[:, 1:]).sum(1) + self.start[tags[:, 0]] + self.end[last]

    def normaliser(self, emissions, mask):
        moves = self.transitions.exp()
        score = emissions[:, 0] + self.start
        for t in range(1, emissions.shape[1]):
            highest = score.max(dim=1, keepdim=True).values
            following = ((score - highest).exp() @ moves).log() + highest + emissions[:, t]
            keep = mask[:, t : t + 1]
            score = following * keep + score * ~keep
        return (score + self.end).logsumexp(1)
