import torch


def as_in_the_paper(target_logits, draft_logits, drafted):
    """Probability that the drafted token is kept, and what to sample from if it is not."""
    p = torch.softmax(target_logits, dim=-1)
    q = torch.softmax(draft_logits, dim=-1)
    p_token = p.gather(-1, drafted.unsqueeze(-1)).squeeze(-1)
    q_token = q.gather(-1, drafted.unsqueeze(-1)).squeeze(-1)
    accept = torch.clamp(p_token / q_token, max=1.0)
    residual = torch.clamp(p - q, min=0)
    residual = residual / residual.sum(dim=-1, keepdim=True)
    return accept, residual


def in_log_space(target_logits, draft_logits, drafted):
    log_p = torch.log_softmax(target_logits, dim=-1)
    log_q = torch.log_softmax(draft_logits, dim=-1)
    rows = torch.arange(drafted.shape[0]).unsqueeze(1)
    columns = torch.arange(drafted.shape[1]).unsqueeze(0)
    log_ratio = (log_p - log_q)[rows, columns, drafted]
    accept = torch.exp(torch.minimum(log_ratio, torch.zeros_like(log_ratio)))
    p = log_p.exp()
    shared = torch.minimum(p, log_q.exp())
    rejected_mass = 1.0 - shared.sum(dim=-1, keepdim=True)
    return accept, (p - shared) / rejected_mass


def example(B=2, K=3, V=7):
    return torch.randn(B, K, V), torch.randn(B, K, V), torch.randint(0, V, (B, K))


def inputs():
    return example()
