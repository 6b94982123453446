import torch


def discounted(deltas, factor):
    steps = deltas.shape[1]
    i = torch.arange(steps)
    ahead = i[None, :] - i[:, None]
    weights = torch.where(ahead >= 0, factor ** ahead.clamp(min=0).to(deltas.dtype), 0.0)
    return deltas @ weights.T


def program(rewards, values, log_prob, old_log_prob):
    gamma, lam, clip = 0.99, 0.95, 0.2
    now, then = values[:, :-1], values[:, 1:]
    gae = discounted(rewards + gamma * then - now, gamma * lam)
    centred = gae - gae.mean()
    deviation = torch.sqrt(centred.pow(2).sum() / (gae.numel() - 1))
    normal = centred / (deviation + 1e-8)
    ratio = (log_prob - old_log_prob).exp()
    loss = torch.maximum(-normal * ratio, -normal * ratio.clamp(1 - clip, 1 + clip)).mean()
    return loss, now + gae
