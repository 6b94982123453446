"""What a kernel reads: what was there before the launch, or what the same lane stored before.

Programs are in no order, and neither are the threads of one between two barriers. So where a read and a write may meet,
they must be of one program, and the write the later one: with a barrier in between, or of the same lane, if what it
stores is made of what was read. A lane of two tiles of one shape need not lie in one thread, for how many elements a
thread has of a tile is the compiler's choice at each load and store: that it does is taken for granted, and told, where
nothing else puts them in order. What a read gives of an earlier store of its own lane is decided when it is executed;
here it is shown that nobody else has stored there, and, of a loop that is over, that all threads wait in between.
"""

from __future__ import annotations

from collections.abc import Mapping

from samesame.formula.expr import TRUE, ZERO, Expr, Index, Load, and_, not_, substitute, walk
from samesame.kernels.execution.barriers import Barrier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, with_fact
from samesame.kernels.obligations import Kernel, at_same_element, copied, share, timed
from samesame.kernels.tiles.detile import Write
from samesame.kernels.verdict import Obligation

SAME_THREADS = "a lane of tiles of one shape lies in the same thread each time"
Copy = Mapping[Index, Expr]  # variables of an access, as those of one program, iteration and lane


def undisturbed(kernel: Kernel) -> tuple[Obligation, tuple[str, ...]]:
    """What the kernel reads is what was there before the launch, or what the same lane stored before; and what is taken
    for granted for that."""
    granted: dict[str, None] = dict.fromkeys([SAME_THREADS] * kernel.machine.reads_back)
    with timed(Obligation("aliasing", "proved", "no program or lane reads what another one writes")) as found:
        for read in (*kernel.reads, *kernel.echoes):
            for write in kernel.writes:
                if read.memory != write.memory and not share(read.memory, write.memory):
                    continue
                if not reads_what_it_should(kernel, read, write, granted):
                    found.state, found.place = "undecided", str(read.access.place)
                    found.detail = f"{read.memory.name} is read here and written at {write.access.place}"
                    return found, ()
    return found, tuple(granted)


def reads_what_it_should(kernel: Kernel, read: Write, write: Write, granted: dict[str, None]) -> bool:
    """Whether no write reaches what is read, except for a later one, or the one whose value is read."""
    first, second = copied(read), copied(write)
    same = at_same_element(kernel, first, second)
    if same is None:
        return False
    known = with_fact(with_fact(with_fact((), first.condition), second.condition), same)
    prover = kernel.simplify.prover
    if prover.proves(known, not_(TRUE)):
        return True
    if read.fixed != write.fixed:
        return False  # another program may write it
    mine, theirs = (dict(zip(w.variables, c.variables, strict=True)) for w, c in ((read, first), (write, second)))
    programs = [v for v in kernel.machine.programs if v in read.variables or v in write.variables]
    if not all(v in mine and v in theirs for v in programs):
        return False
    if not all(prover.proves(known, integers.equal(mine[v], theirs[v])) for v in programs):
        return False  # another program may write it

    def are_equal(before: tuple[Index, ...], behind: tuple[Index, ...]) -> bool:
        if len(before) != len(behind):
            return False
        pairs = ((mine.get(v, ZERO), theirs.get(w, ZERO)) for v, w in zip(before, behind, strict=True))
        return all(prover.proves(known, integers.equal(v, w)) for v, w in pairs)

    alike = read.access.pointers.shape == write.access.pointers.shape and are_equal(read.lanes, write.lanes)
    if read.access.own is write.access:
        turns = alike and are_equal(read.access.loops, write.access.loops)
        return turns and waits_between(kernel, write, read, known, mine, granted)
    shared = [t for t in read.access.loops if t in write.access.loops]
    later = read.access.number < write.access.number
    if not shared:
        if not later or waits_between(kernel, read, write, known, mine, granted):
            return later
        if alike:
            grant_one_thread(write, granted)
        return alike
    (outer, *inner) = shared
    if not alike or inner or outer not in mine or outer not in theirs:
        return False
    when = integers.at_most(mine[outer], theirs[outer]) if later else integers.less(mine[outer], theirs[outer])
    if not prover.proves(known, when):
        return False
    grant_one_thread(write, granted)
    return True


def grant_one_thread(write: Write, granted: dict[str, None]) -> None:
    """Take for granted that a lane reads in the thread in which it stores, unless what it stores is made of the element
    that it read there: values are brought to the threads that store them."""
    reads = (e for e in walk(write.value) if isinstance(e, Load) and e.leaf.name.rstrip("*") == write.memory.name)
    if not any(e.indices == (write.offset,) for e in reads):
        granted[SAME_THREADS] = None


def waits_between(
    kernel: Kernel, first: Write, second: Write, known: Facts, mine: Copy, granted: dict[str, None]
) -> bool:
    """Whether all lanes of a program have done the one before any of them does the other. A barrier in a loop with one
    of the two does not count: where it has come to stand, before the loop or behind it, is the compiler's choice."""
    around = {*first.access.loops, *second.access.loops}
    between = (b for b in kernel.machine.barriers if first.access.number < b.number <= second.access.number)
    for barrier in sorted(between, key=lambda b: b.granted):         # those that are written first
        if around.isdisjoint(barrier.loops) and is_reached(kernel, barrier, known, mine):
            granted |= {barrier.granted: None} if barrier.granted else {}
            return True
    return False


def is_reached(kernel: Kernel, barrier: Barrier, known: Facts, mine: Copy) -> bool:
    """Whether a program comes by a barrier, in the first iteration of the loops around it."""
    here = {**mine, **dict.fromkeys(barrier.loops, ZERO)}
    conditions = (*(integers.less(0, t.extent) for t in barrier.loops), *barrier.path)
    return kernel.simplify.prover.proves(known, integers.tidied(substitute(and_(*conditions), here)))
