# EQUAL
"""CLIP's head and loss: OpenAI's, and ours in one matrix with logsumexp."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)


class CLIPHead(nn.Module):
    def __init__(self, image_dim=14, text_dim=10, embed_dim=8):
        super().__init__()
        self.visual_projection = nn.Linear(image_dim, embed_dim, bias=False)
        self.text_projection = nn.Linear(text_dim, embed_dim, bias=False)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def forward(self, image, text):
        image_features = self.visual_projection(image)
        text_features = self.text_projection(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logit_scale = self.logit_scale.exp()
        logits_per_image = logit_scale * image_features @ text_features.t()
        logits_per_text = logits_per_image.t()
        labels = torch.arange(image.shape[0])
        return (F.cross_entropy(logits_per_image, labels) + F.cross_entropy(logits_per_text, labels)) / 2


class Contrastive(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.wi = nn.Parameter(head.visual_projection.weight.detach().T.contiguous())
        self.wt = nn.Parameter(head.text_projection.weight.detach().T.contiguous())
        self.log_t = nn.Parameter(head.logit_scale.detach().clone())

    def forward(self, image, text):
        i = image @ self.wi
        t = text @ self.wt
        s = torch.einsum("ad,bd->ab", i, t) * torch.exp(self.log_t)
        s = s * i.square().sum(-1).rsqrt()[:, None] * t.square().sum(-1).rsqrt()[None]
        rows = torch.logsumexp(s, 1) + torch.logsumexp(s, 0) - 2 * torch.diagonal(s)
        return 0.5 * rows.mean()


left = CLIPHead()
right = Contrastive(left)
inputs = (torch.randn(6, 14), torch.randn(6, 10))
