import torch
import torch.nn.functional as F

BETA, EPS = 0.3, 0.1


def sequence_logps(logits, labels, mask):
    logps = torch.gather(logits[:, :-1].log_softmax(-1), 2, labels[:, 1:].unsqueeze(2)).squeeze(2)
    return (logps * mask[:, 1:]).sum(-1)


def trainer_loss(logits, labels, mask, ref_logps):
    """Chosen ones in the first half of the batch, rejected ones in the second."""
    all_logps = sequence_logps(logits, labels, mask)
    n = logits.shape[0] // 2
    chosen, rejected = all_logps[:n], all_logps[n:]
    ref_chosen, ref_rejected = ref_logps[:n], ref_logps[n:]
    margin = (chosen - rejected) - (ref_chosen - ref_rejected)
    losses = -F.logsigmoid(BETA * margin) * (1 - EPS) - F.logsigmoid(-BETA * margin) * EPS
    return losses.mean(), BETA * (chosen - ref_chosen), BETA * (rejected - ref_rejected)


def compact_loss(logits, labels, mask, ref_logps):
    v = logits.shape[-1]
    nll = F.cross_entropy(logits[:, :-1].reshape(-1, v), labels[:, 1:].reshape(-1), reduction="none")
    nll = nll.view(labels.shape[0], -1).mul(mask[:, 1:]).sum(dim=1)
    reward = -BETA * (nll + ref_logps)
    win, lose = reward.view(2, -1)
    z = win - lose
    loss = (F.softplus(-z) + EPS * z).sum() / z.numel()
    return loss, win.clone(), lose.clone()


left, right = trainer_loss, compact_loss
torch.manual_seed(7)
_mask = torch.ones(4, 6)
_mask[1, 4:] = 0
_mask[2, :2] = 0
inputs = (torch.randn(4, 6, 9), torch.randint(0, 9, (4, 6)), _mask, -8 + torch.randn(4))
