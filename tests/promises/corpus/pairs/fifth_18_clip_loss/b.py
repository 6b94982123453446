import torch
from torch import nn

from a import program as original


def unit(x):
    return x / x.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12)


class Contrastive(nn.Module):
    def __init__(self, clip):
        super().__init__()
        self.w_image = nn.Parameter(clip.visual_projection.weight.detach().t().contiguous())
        self.w_text = nn.Parameter(clip.text_projection.weight.detach().t().contiguous())
        self.log_temperature = nn.Parameter(clip.logit_scale.detach().clone())

    def forward(self, image, text):
        u, w = unit(image @ self.w_image), unit(text @ self.w_text)
        s = torch.einsum("id,jd->ij", u, w) * torch.exp(self.log_temperature)
        matched = torch.diagonal(s)
        rows, columns = torch.logsumexp(s, dim=1), torch.logsumexp(s, dim=0)
        return (0.5 * (rows + columns) - matched).mean()


program = Contrastive(original).eval()
