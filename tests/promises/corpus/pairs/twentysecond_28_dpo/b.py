"""DPO with one forward for both answers, cross-entropy that ignores −100, and log σ(−x) = log σ(x) − x."""

import torch
from a import TinyLM
from torch import nn
from torch.nn import functional as F


class ConcatenatedDPO(nn.Module):
    def __init__(self, beta=0.1, smoothing=0.05):
        super().__init__()
        lm = TinyLM()
        self.embed, self.down, self.head = lm.embed, lm.down, lm.head
        self.gate_up = nn.Linear(lm.gate.in_features, 2 * lm.gate.out_features)
        self.gate_up.weight.data = torch.cat([lm.gate.weight, lm.up.weight]).detach()
        self.gate_up.bias.data = torch.cat([lm.gate.bias, lm.up.bias]).detach()
        self.beta, self.smoothing = beta, smoothing

    def sequence_log_probabilities(self, ids, labels):
        T = ids.shape[1]
        e = self.embed(ids)
        average = torch.ones(T, T, dtype=e.dtype).tril() / torch.arange(1, T + 1)[:, None]
        gate, up = self.gate_up(average @ e).chunk(2, -1)
        h = e + self.down(gate * torch.sigmoid(gate) * up)
        logits = self.head(h[:, :-1])
        nll = F.cross_entropy(logits.transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none")
        return -nll.sum(1)

    def forward(self, chosen_ids, chosen_labels, rejected_ids, rejected_labels, ref_chosen, ref_rejected):
        n = chosen_ids.shape[0]
        logps = self.sequence_log_probabilities(
            torch.cat([chosen_ids, rejected_ids]), torch.cat([chosen_labels, rejected_labels])
        )
        chosen_rewards = self.beta * (logps[:n] - ref_chosen)
        rejected_rewards = self.beta * (logps[n:] - ref_rejected)
        margin = chosen_rewards - rejected_rewards
        loss = self.smoothing * margin - F.logsigmoid(margin)
        return loss.mean(), chosen_rewards, rejected_rewards
