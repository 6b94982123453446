"""While loops that wait: a program that asks memory again and again until another program has written to it.

    while tl.load(flag, volatile=True) == 0: …          until another program sets the flag
    while tl.atomic_cas(lock, 0, 1) == 1: …             until another program gives the lock back

Here one walk stands for all programs, each by itself, so such a loop has no meaning; how often it runs is up to the
machine. It is known by what its condition comes from: a volatile load, or what an atomic operation returns.
"""

from __future__ import annotations

from collections.abc import Iterator

from samesame.kernels.execution.ttir import Operation, Place, Region


def spins(loop: Operation) -> Place | None:
    """The line of a while loop that waits for other programs, this one or one inside it; the innermost one counts."""
    for operation in inside(loop.regions):
        if operation.name == "scf.while" and (place := spins(operation)) is not None:
            return place
    return loop.place if asks_again(loop) else None


def asks_again(loop: Operation) -> bool:
    """Whether the condition comes from what other programs may change."""
    before, after = loop.regions
    operations = list(inside(loop.regions))
    makers = {name: operation for operation in operations for name in operation.results}
    (yielded,) = (o.operands for o in after.operations if o.name == "scf.yield")
    (condition,) = (o.operands for o in before.operations if o.name == "scf.condition")
    entries = dict(zip(loop.operands[0::2], yielded, strict=True))
    entries |= {name: given for (name, _), given in zip(after.arguments, condition[1:], strict=True)}
    wanted, seen = [condition[0]], set[str]()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        maker = makers.get(name)
        if maker is None:
            wanted += [entries[name]] if name in entries else []
            continue
        if "isVolatile = true" in maker.text or maker.name.startswith("tt.atomic"):
            return True
        wanted += maker.operands
        wanted += [operand for operation in inside(maker.regions) for operand in operation.operands]
    return False


def inside(regions: list[Region]) -> Iterator[Operation]:
    """The operations of regions, and those in theirs."""
    for region in regions:
        for operation in region.operations:
            yield operation
            yield from inside(operation.regions)
