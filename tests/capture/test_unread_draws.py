"""Random numbers that a program draws and does not read decide nothing; whatever reads them is refused."""

import threading

import pytest
import torch
from torch import nn

from samesame.capture import capture
from samesame.check import check
from samesame.evidence import Refused

X = (torch.arange(6.0).view(2, 3),)


class Layers(nn.Module):
    """Layers of which some are skipped in training, as Transformers' models have them."""

    def __init__(self, share=0.5):
        super().__init__()
        self.layers, self.share = nn.ModuleList(nn.Linear(3, 3) for _ in range(2)), share

    def forward(self, x):
        for layer in self.layers:
            drawn = torch.rand([])
            skip = self.training and drawn < self.share
            if not skip:
                x = layer(x)
        return x


class Plain(Layers):
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_what_is_drawn_and_never_read_is_no_part_of_the_program():
    left, right = Layers().eval(), Plain().eval()
    right.load_state_dict(left.state_dict())
    found = check(left, right, X)
    assert found.verdict == "same" and [asked.what for asked in found.settings[0].asked] == ["chance"]
    assert not found.settings[1].asked
    assert not any("rand" in node.operator for node in capture(Layers().eval(), X).nodes)


READS = {
    "in training": Layers().train(),
    "arithmetic": lambda x: x + torch.rand(3),
    "what is returned": lambda x: (x, torch.rand(3)),
    "a view": lambda x: x + torch.rand(3)[0],
    "another name": lambda x: x + torch.rand(3).detach(),
    "a list": lambda x: x * torch.rand(2).tolist()[0],
    "an array": lambda x: x * float(torch.rand(2).numpy()[0]),
    "a number": lambda x: x * torch.rand([]).item(),
    "a choice": lambda x: x if torch.rand([]) < 2 else -x,
    "a truth": lambda x: x if torch.randn(1) else -x,
    "text": lambda x: x * float(str(torch.rand([]).item())),
    "a write": lambda x: torch.zeros(2, 3).copy_(torch.rand(2, 3)) + x,
    "a place to write": lambda x: torch.rand(2, 3).copy_(x),
    "indices": lambda x: x[:, torch.randperm(3)],
    "a kept one": lambda x: (kept.append(torch.rand(3)), x + kept[-1])[1],
    "an array of it": lambda x: x + torch.from_numpy(torch.rand(3).numpy()),
    "another drawing": lambda x: x + torch.bernoulli(torch.rand(3)),
    "one like it": lambda x: x + torch.rand_like(x),
}
kept = []


@pytest.mark.parametrize("way", READS)
def test_whatever_reads_it_is_refused(way):
    with pytest.raises(Refused, match="draws random numbers"):
        capture(READS[way], X)


def test_another_thread_does_not_read_it_either():
    def reads(x):
        drawn, told = torch.rand(3), []
        thread = threading.Thread(target=lambda: told.append(drawn.tolist()))
        thread.start()
        thread.join()
        return x * told[0][0] if told else x

    with pytest.raises(Refused):
        capture(reads, X)


def test_only_its_size_may_be_asked():
    same = check(lambda x: x * torch.rand(3).shape[0], lambda x: x * 3, X)
    assert same.verdict == "same"
