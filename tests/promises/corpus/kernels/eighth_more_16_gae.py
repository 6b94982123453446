import torch
import triton
import triton.language as tl


# generalised advantage estimation (PPO), one lane for each environment, backwards in time
@triton.jit
def gae(rewards_ptr, values_ptr, dones_ptr, adv_ptr, T, B, gamma, lam, BLOCK: tl.constexpr):
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = b < B
    adv = tl.zeros([BLOCK], dtype=tl.float32)
    for k in range(0, T):
        t = T - 1 - k
        r = tl.load(rewards_ptr + t * B + b, mask=ok, other=0.0)
        v = tl.load(values_ptr + t * B + b, mask=ok, other=0.0)
        nxt = tl.load(values_ptr + (t + 1) * B + b, mask=ok, other=0.0)
        live = 1.0 - tl.load(dones_ptr + t * B + b, mask=ok, other=0.0)
        delta = r + gamma * live * nxt - v
        adv = delta + gamma * lam * live * adv
        tl.store(adv_ptr + t * B + b, adv, mask=ok)


def launch(T=6, B=20):
    rewards = torch.randn(T, B, device="cuda")
    values = torch.randn(T + 1, B, device="cuda")
    dones = (torch.rand(T, B, device="cuda") < 0.2).float()
    adv = torch.empty_like(rewards)
    gae[(triton.cdiv(B, 16),)](rewards, values, dones, adv, T, B, 0.99, 0.95, BLOCK=16)
    return adv, adv + values[:-1]


def reference(rewards, values, dones):
    last = torch.zeros_like(rewards[0])
    out = []
    for t in reversed(range(rewards.shape[0])):
        live = 1 - dones[t]
        delta = rewards[t] + 0.99 * live * values[t + 1] - values[t]
        last = delta + 0.99 * 0.95 * live * last
        out.append(last)
    adv = torch.stack(out[::-1])
    return adv, adv + values[:-1]


TRUTH = "verified"
