# EQUAL. CLIP's symmetric loss: OpenCLIP style vs hand-written
import torch
from torch import nn
import torch.nn.functional as F


class ClipLoss(nn.Module):
    def __init__(self, log_scale):
        super().__init__()
        self.logit_scale = nn.Parameter(log_scale.clone())

    def forward(self, image_features, text_features):
        image_features = F.normalize(image_features, dim=-1)
        text_features = F.normalize(text_features, dim=-1)
        s = self.logit_scale.exp()
        per_image = s * image_features @ text_features.T
        per_text = per_image.T
        labels = torch.arange(per_image.shape[0])
        return (F.cross_entropy(per_image, labels) + F.cross_entropy(per_text, labels)) / 2


class Hand(nn.Module):
    def __init__(self, log_scale):
        super().__init__()
        self.t = nn.Parameter(log_scale.clone())

    def forward(self, image_features, text_features):
        a = image_features / image_features.norm(dim=1, keepdim=True).clamp_min(1e-12)
        b = text_features / text_features.norm(dim=1, keepdim=True).clamp_min(1e-12)
        z = torch.einsum("id,jd->ij", a, b) * torch.exp(self.t)
        pos = torch.diagonal(z)
        rows, cols = torch.logsumexp(z, 1), torch.logsumexp(z, 0)
        return 0.5 * ((rows - pos).mean() + (cols - pos).mean())


t = torch.tensor(2.6593)
left, right = ClipLoss(t), Hand(t)
torch.manual_seed(0)
inputs = (torch.randn(5, 12), torch.randn(5, 12))
