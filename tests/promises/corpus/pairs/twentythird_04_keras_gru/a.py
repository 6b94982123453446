"""Sentiment tagger in PyTorch: embeddings, one GRU layer, a dense head over the last state and the sequence."""
import torch
from torch import nn

VOCABULARY, SIZE, HIDDEN, CLASSES = 13, 6, 5, 3


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, SIZE)
        self.gru = nn.GRU(SIZE, HIDDEN, batch_first=True)
        self.tag = nn.Linear(HIDDEN, CLASSES)
        self.document = nn.Linear(HIDDEN, CLASSES)

    def forward(self, tokens):
        states, last = self.gru(self.embedding(tokens))
        return {"tags": self.tag(states), "document": self.document(last[0]).log_softmax(-1)}


def inputs():
    return (torch.randint(0, VOCABULARY, (2, 6)),)
