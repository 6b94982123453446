"""The losses of PPO (clipped surrogate, value, entropy) for a linear actor and critic, differentiated by autograd."""
import torch
from torch import nn
from torch.nn import functional as F

OBSERVATION, ACTIONS, CLIP, VALUE_COEF, ENTROPY_COEF = 5, 3, 0.2, 0.5, 0.01


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(OBSERVATION, ACTIONS), nn.Linear(OBSERVATION, 1)


class PPO:
    def __init__(self):
        self.agent = Agent()

    def __call__(self, observation, action, old_log_prob, advantage, returns):
        agent = self.agent
        log_p = agent.actor(observation).log_softmax(-1)
        log_prob = log_p.gather(1, action[:, None]).squeeze(1)
        ratio = (log_prob - old_log_prob).exp()
        unclipped = -advantage * ratio
        clipped = -advantage * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
        policy_loss = torch.max(unclipped, clipped).mean()
        value_loss = F.mse_loss(agent.critic(observation).squeeze(1), returns)
        entropy = -(log_p.exp() * log_p).sum(-1).mean()
        loss = policy_loss + VALUE_COEF * value_loss - ENTROPY_COEF * entropy
        grads = torch.autograd.grad(loss, list(agent.parameters()))
        return loss.detach(), grads


def inputs():
    observation, action = torch.randn(6, OBSERVATION), torch.randint(0, ACTIONS, (6,))
    return observation, action, -1 + 0.3 * torch.randn(6), torch.randn(6), torch.randn(6)
