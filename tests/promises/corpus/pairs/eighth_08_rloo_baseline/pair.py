import torch

K = 4
KL = 0.05


def rloo_loop(logprobs, ref_logprobs, scores):
    """logprobs: (k * prompts, T) of the sampled tokens, sample-major."""
    kl = (logprobs - ref_logprobs).sum(1)
    reward = (scores - KL * kl).reshape(K, -1)
    adv = torch.zeros_like(reward)
    for i in range(K):
        others = [reward[j] for j in range(K) if j != i]
        adv[i] = reward[i] - sum(others) / len(others)
    adv = adv.flatten()
    return (-adv * logprobs.sum(1)).mean(), adv


def rloo_closed(logprobs, ref_logprobs, scores):
    r = scores - KL * logprobs.sum(-1) + KL * ref_logprobs.sum(-1)
    r = r.unflatten(0, (K, -1))
    centred = (r - r.mean(dim=0, keepdim=True)) * (K / (K - 1))
    a = centred.reshape(-1)
    return -torch.einsum("n,nt->", a, logprobs) / a.shape[0], a


left, right = rloo_loop, rloo_closed
inputs = (-torch.rand(3 * K, 5), -torch.rand(3 * K, 5), torch.randn(3 * K))
