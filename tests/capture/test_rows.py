"""Rows that data chooses: what is recorded of them stands for all inputs, and what cannot be said is refused."""

import pytest
import torch
from torch.nn import functional as F

from samesame.capture import capture
from samesame.evidence import Refused
from samesame.operators.execute import execute

ROWS, WIDTH = 6, 4
W = torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(7))


def example(seed=0):
    dice = torch.Generator().manual_seed(seed)
    return torch.randn(ROWS, WIDTH, generator=dice), torch.rand(ROWS, generator=dice) < 0.6


def of_graph(graph, *inputs):
    names = [node.name for node in graph.sources("input")]
    values = execute(graph, {**graph.tensors, **dict(zip(names, inputs, strict=True))}, precision="own")
    return [values[node.name] for _, node in graph.roots]


def put_back(row_wise):
    """A program that does something to chosen rows, and writes them where they were."""
    def program(x, kept):
        return torch.zeros_like(x).masked_fill(~kept[:, None], 2.0).index_put((kept,), row_wise(x[kept]))

    return program


ROW_BY_ROW = {
    "linear": lambda y: F.linear(y, W).relu() + y,
    "softmax": lambda y: y.softmax(-1),
    "softmax over the rows": lambda y: y.softmax(0),
    "running sum": lambda y: y.cumsum(0),
    "normed": lambda y: F.layer_norm(y, (WIDTH,)) * F.rms_norm(y, (WIDTH,)),
    "reduced": lambda y: y - y.mean(-1, keepdim=True) + y.amax(1, keepdim=True) + y.var(-1)[:, None],
    "less the mean of the rows": lambda y: y - y.mean(0),
    "less the largest row": lambda y: y - y.amax(0, keepdim=True),
    "heads": lambda y: y.view(y.shape[0], 2, 2).transpose(1, 2).reshape(-1, WIDTH),
    "heads first": lambda y: y.view(-1, 2, 2).permute(1, 0, 2).flip(0).permute(1, 0, 2).flatten(1),
    "split": lambda y: torch.cat([half * 2 for half in y.chunk(2, dim=-1)][::-1], dim=-1),
    "stacked": lambda y: torch.stack([y[:, 0], y[:, 3], y[:, 1], y[:, 2]], 1),
    "written": lambda y: written(y),
    "sorted within a row": lambda y: y.sort(-1, descending=True).values,
    "gathered within a row": lambda y: y.gather(1, y.argsort(-1)),
    "among themselves": lambda y: (y @ y.t()).softmax(-1) @ y,
    "by einsum": lambda y: torch.einsum("nd,de->ne", y, W),
    "zeros of as many": lambda y: torch.zeros(y.shape[0], WIDTH) + torch.ones_like(y) + y.new_full((len(y), 1), 3.0),
    "one hot": lambda y: F.one_hot(y.argmax(-1), WIDTH).to(y.dtype),
    "by a table": lambda y: F.embedding(y.argmax(-1), W),
    "by several ranges": lambda y: y[None].expand(2, -1, -1).sum(0),
}


def written(y):
    y = y.clone()
    y[:, 0] = 1.0
    y[:, 1:3] *= 2
    y += 1
    return y


@pytest.mark.parametrize("what", ROW_BY_ROW)
def test_what_is_done_row_by_row_is_recorded_for_all_masks(what):
    program = put_back(ROW_BY_ROW[what])
    graph = capture(program, example())
    x, kept = example(1)
    for mask in (kept, ~kept, torch.ones(ROWS, dtype=torch.bool)):
        torch.testing.assert_close(of_graph(graph, x, mask)[0], program(x, mask))


ENDS = {
    "sum": lambda x, kept: x[kept].sum(0),
    "sum of all": lambda x, kept: x[kept].sum(),
    "mean": lambda x, kept: x[kept].mean(),
    "mean of rows": lambda x, kept: x[kept].mean(0, keepdim=True),
    "largest and least": lambda x, kept: x[kept].amax(0) - x[kept].amin(),
    "some and all": lambda x, kept: (x[kept] > 1).any(0) ^ (x[kept] > -1).all(0),
    "logsumexp": lambda x, kept: x[kept].logsumexp(0),
    "norm": lambda x, kept: torch.linalg.vector_norm(x[kept], dim=0),
    "products": lambda x, kept: x[kept].t() @ x[kept] + torch.einsum("nd,ne->de", x[kept], x[kept]),
    "loss": lambda x, kept: F.cross_entropy(x[kept], x[kept].argmin(-1), label_smoothing=0.1),
    "losses": lambda x, kept: F.cross_entropy(x[kept], x[kept].argmin(-1), reduction="none").sum(),
    "errors": lambda x, kept: F.mse_loss(x[kept], x[kept] * 2) + F.l1_loss(x[kept], x[kept] * 2),
    "binary": lambda x, kept: F.binary_cross_entropy_with_logits(x[kept], (x[kept] > 0).float(), reduction="sum"),
    "masked select": lambda x, kept: x.masked_select(kept[:, None]).sum(),
    "added in another order": lambda x, kept: torch.zeros(ROWS, WIDTH).index_add(0, 5 - kept.nonzero()[:, 0], x[kept]),
    "scattered": lambda x, kept: torch.zeros(ROWS, WIDTH).scatter_add(
        0, kept.nonzero().expand(-1, WIDTH), x[kept] * 2),
    "counted": lambda x, kept: torch.bincount(x[kept].argmax(-1), minlength=WIDTH + 1),
    "weighed": lambda x, kept: torch.bincount(                   # none at all are weighed in integers
        x[kept].argmax(-1), x[kept].sum(-1), minlength=WIDTH).to(x.dtype),
    "put and added": lambda x, kept: x.index_put(torch.where(kept), x[kept], accumulate=True),
    "as many times": lambda x, kept: x[0].expand(len(x[kept]), WIDTH).sum(0) + x[0].repeat(1, 1),
    "filled": lambda x, kept: x.index_put((kept.nonzero().flatten(),), torch.tensor(3.0)),
}


@pytest.mark.parametrize("what", ENDS)
def test_what_rows_end_in_is_recorded_for_all_masks(what):
    graph = capture(ENDS[what], example())
    x, kept = example(1)
    for mask in (kept, ~kept, torch.ones(ROWS, dtype=torch.bool)):
        torch.testing.assert_close(of_graph(graph, x, mask)[0], ENDS[what](x, mask))


def test_what_stands_in_rows_that_are_not_chosen_never_leaks():
    def program(x, kept):
        return torch.zeros(WIDTH).index_add(0, kept.nonzero()[:, 0] * 0, x[kept].sum(-1)) + x[kept].amax(0)

    graph = capture(program, example())
    x, kept = example(1)
    x[~kept] = torch.nan
    assert torch.equal(of_graph(graph, x, kept)[0], program(x, kept))
    x[~kept] = torch.inf
    assert torch.equal(of_graph(graph, x, kept)[0], program(x, kept))


def test_integers_in_rows_that_are_not_chosen_need_not_be_counted():
    def program(labels):
        return torch.bincount(labels[(labels >= 0) & (labels < 3)], minlength=3)

    graph = capture(program, (torch.tensor([0, 255, 2, -1, 2]),))
    for labels in ([-7, 255, 1, 2, 0], [9, 9, 9, 9, 9]):
        assert torch.equal(of_graph(graph, torch.tensor(labels))[0], program(torch.tensor(labels)))


def test_experts_that_nobody_chose_are_skipped():
    def program(x, router):
        chosen = (x @ router).topk(2, dim=-1).indices
        out = torch.zeros_like(x)
        for expert in range(8):
            token, slot = torch.where(chosen == expert)
            if token.numel() == 0:
                continue
            out[token] += (expert + slot)[:, None] * x[token]
        return out

    x, router = torch.randn(3, WIDTH), torch.randn(WIDTH, 8)
    graph = capture(program, (x, router))
    for seed in range(3):
        x, router = torch.randn(3, WIDTH, generator=torch.Generator().manual_seed(seed)), router.roll(seed, 1)
        torch.testing.assert_close(of_graph(graph, x, router)[0], program(x, router))


# --------------------------------------------------------------------------------------------------------- refused


def returns(x, kept):
    return x[kept]


def keeps_some(x, kept):
    token = kept.nonzero()[:, 0][:3]
    return torch.zeros_like(x).index_add(0, token, x[token])


def divides(x, kept):
    token = torch.where(kept)[0]
    return x[token].sum(0) / token.numel()


def counts_by_len(x, kept):
    return x[kept].sum(0) * len(x[kept])


def compares(x, kept):
    return x * 2 if x[kept].shape[0] > 3 else x


def converts(x, kept):
    return x * float(x[kept].shape[0])


def repeats(x, kept):
    return x * len([0] * x[kept].shape[0])


def sorts(x, kept):
    return x[kept].sort(0).values.sum(0)


def finds(x, kept):
    return x[kept].argmax(0)


def chooses_again(x, kept):
    y = x[kept]
    return y[y[:, 0] > 0].sum(0)


def takes_the_first(x, kept):
    return x[kept][0]


def squeezes(x, kept):
    return x[kept.nonzero().squeeze()].sum(0)


def joins(x, kept):
    return torch.cat([x[kept], x[~kept]]).sum(0)


def mixes(x, kept):
    return (x[kept] + x[~kept]).sum(0)


def writes_elsewhere(x, kept):
    return x.index_put((kept.nonzero()[:, 0] // 2,), x[kept])


def takes_out(x, kept):
    return x * sum(kept.nonzero().flatten().tolist())


def numbers(x, kept):
    return (x[kept] * torch.arange(x[kept].shape[0])[:, None]).sum(0)


def with_another_effect(x, kept):
    if x[kept].shape[0] == 0:
        return x + 1
    return x.index_add(0, kept.nonzero()[:, 0], x[kept])


def with_an_effect_of_its_own(x, kept):
    if kept.any():
        x = x + 1
    return x


def adds_what_occurs(x, kept):
    total = torch.zeros(WIDTH)
    for row in x[kept]:
        total = total + row
    return total


def numbers_what_occurs(x, kept):
    out = torch.zeros_like(x)
    for place, at in enumerate(kept.nonzero()[:, 0]):
        out[place] += x[at]
    return out


def stops_early(x, kept):
    out = torch.zeros_like(x)
    for at in kept.nonzero()[:, 0]:
        out[at] = x[at]
        break
    return out


def divides_inside_torch(x, kept):
    return F.kl_div(x[kept].log_softmax(-1), x[kept].softmax(-1), reduction="batchmean")


def counts_beyond(x, kept):
    return torch.bincount(kept.nonzero()[:, 0])


def weighs_others(x, kept):
    return torch.bincount(kept.nonzero()[:, 0], x[~kept, 0], minlength=ROWS)


def may_repeat(x, kept):
    both = torch.stack([kept, kept], 1)
    token, slot = torch.where(both)
    return x.index_put((token,), x[token] * (slot[:, None] + 1))


REFUSED = [
    (returns, "makes 0 of rows that data chose, so its shape depends on data"),
    (keeps_some, "cuts off some of rows that data chose"),
    (divides, "gives the number of rows that data chose to div"),
    (counts_by_len, "gives the number of rows that data chose to mul"),
    (compares, "asks whether the number of rows that data chose is greater than 3"),
    (converts, "computes with the number of rows"),
    (repeats, "depends on data"),
    (sorts, "sorts rows that data chose"),
    (finds, "takes argmax over rows that data chose"),
    (chooses_again, "chooses again among rows that data chose"),
    (takes_the_first, "takes one row by its number from rows that data chose"),
    (squeezes, "squeezes, without saying which dimension"),
    (joins, "joins others to rows that data chose"),
    (mixes, "puts rows that data chose together with others"),
    (writes_elsewhere, "writes to other places than their own rows"),
    (takes_out, "calls .tolist"),
    (numbers, "counts rows that data chose"),
    (with_another_effect, "where fewer are chosen the program does something else"),
    (with_an_effect_of_its_own, "where fewer are chosen the program does something else"),
    (adds_what_occurs, "depends on data"),
    (numbers_what_occurs, "depends on data"),
    (stops_early, "depends on data"),
    (divides_inside_torch, "depends on data"),
    (counts_beyond, "calls bincount for as many integers as there are"),
    (weighs_others, "puts rows that data chose together with"),
    (may_repeat, "writes to places that may repeat"),
]


@pytest.mark.parametrize("program, message", REFUSED, ids=lambda part: getattr(part, "__name__", ""))
def test_what_cannot_be_said_of_rows_is_refused(program, message):
    with pytest.raises(Refused, match=message):
        capture(program, example())


@pytest.mark.parametrize("program", [repeats, with_another_effect, with_an_effect_of_its_own, adds_what_occurs,
                                     numbers_what_occurs, stops_early, divides_inside_torch])
def test_it_is_refused_where_all_rows_are_chosen_too(program):
    with pytest.raises(Refused):
        capture(program, (example()[0], torch.ones(ROWS, dtype=torch.bool)))


def test_rows_that_data_chose_are_not_turned_into_columns():
    def program(x, kept):
        return x[kept].reshape(WIDTH, -1).sum(1)

    with pytest.raises(Refused, match="reshapes across rows that data chose"):
        capture(program, example())


def test_a_question_is_asked_with_nothing_chosen_though_nothing_else_depends_on_it():
    def program(x, y):
        if (y > 0).any():
            x = x * 2
        return x

    for seed in range(8):                                  # whatever is left out by chance
        y = torch.randn(3, seed + 2, generator=torch.Generator().manual_seed(seed))
        with pytest.raises(Refused, match="where fewer are chosen the program does something else"):
            capture(program, (torch.ones(2), y))
