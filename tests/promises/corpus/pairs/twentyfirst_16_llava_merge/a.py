"""Image features take the places of image tokens in the prompt (masked_scatter), after a two-layer projector."""
import torch
from torch import nn

IMAGE = -200


class Llava(nn.Module):
    def __init__(self, vocab=10, dim=8, vision=6):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.mm_projector = nn.Sequential(nn.Linear(vision, dim), nn.GELU(), nn.Linear(dim, dim))

    def forward(self, input_ids, image_features):
        special = input_ids == IMAGE
        safe = input_ids.masked_fill(special, 0)
        embeds = self.embed_tokens(safe)
        features = self.mm_projector(image_features)
        features = features.reshape(-1, features.shape[-1])
        mask = special.unsqueeze(-1).expand_as(embeds)
        return embeds.masked_scatter(mask, features.to(embeds.dtype))


def inputs():
    ids = torch.tensor([[1, IMAGE, IMAGE, IMAGE, 5, 7, 2], [3, 4, 9, IMAGE, IMAGE, IMAGE, 6]])
    return ids, torch.randn(2, 3, 6)
