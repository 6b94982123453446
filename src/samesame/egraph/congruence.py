"""Congruence closure: which terms are equal, given that some are, and why.

Terms live in classes. `union` merges two classes for a reason; `rebuild` then merges every pair of terms whose
operator and attributes are the same and whose arguments have become equal, until nothing changes. Two structures are
kept side by side:

* for speed, a union-find over terms, and one *node* per class for each distinct `(operator, attributes, argument
  classes)`;
* for explanations, a *proof forest*: each merge leaves one edge between the two terms it was stated of, with its
  reason. Two terms are equal exactly when a path of edges joins them. The path is unique and older than any
  congruence that rests on it.

A term keeps the arguments it was made with: one that turns out to be an old node in other words gets a congruence
edge to it, so that an explanation speaks of the term that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from samesame.egraph.terms import CONGRUENCE, EGraphError, Evidence, Reason, RuleUse, Term, exact

Typed = Callable[[str, tuple[Hashable, ...], tuple[Any, ...]], Hashable]


class TermGraph:
    """Hash-consed terms in congruence classes, with a reason for every merge.

    `typed(operator, attributes, argument types)` gives a term's type, or None where it cannot tell; `add` may then
    state it.
    """

    def __init__(self, typed: Typed | None = None) -> None:
        self._typed = typed
        self._heads: list[tuple[str, tuple[Hashable, ...]]] = []    # head number → operator and attributes
        self._head_of: dict[tuple[str, Hashable], int] = {}
        self._terms: list[tuple[int, ...]] = []                     # term → (head, *arguments as they were given)
        self._term_of: dict[tuple[int, ...], int] = {}
        self._types: list[Hashable] = []
        self._keys: list[tuple[int, ...] | None] = []               # term → (head, *argument classes); None: no node
        self._node_of: dict[tuple[int, ...], int] = {}              # the same, inverted
        self._up: list[int] = []                                    # union-find
        self._members: dict[int, list[int]] = {}                    # class → terms
        self._nodes: dict[int, dict[str, dict[int, None]]] = {}     # class → operator → terms that are nodes
        self._parents: dict[int, list[int]] = {}                    # class → terms with an argument in it
        self._stale: list[int] = []                                 # terms with an argument whose class was merged away
        self._edges: list[tuple[int, int, Reason]] = []             # the proof forest: what each merge was stated of
        self._link: list[tuple[int, int] | None] = []               # term → (next term on the way to the root, edge)
        self._changes: list[int] = []                               # nodes whose arguments or class changed, in order
        self._keyed: list[int] = []                                 # term → length of that when its arguments changed
        self._changed: list[int] = []                               # … when its arguments or its class changed

    # ----------------------------------------------------------------------------------------------------------- terms

    def add(
        self,
        operator: str,
        attributes: tuple[Hashable, ...] = (),
        arguments: tuple[int, ...] = (),
        type: Hashable = None,
    ) -> int:
        """The term's id; the same term has the same id. Raises EGraphError if it is known by another type."""
        for argument in arguments:
            if not 0 <= argument < len(self._terms):
                raise EGraphError(f"{operator} takes term {argument}, which does not exist; add arguments first")
        key = (self._head(operator, attributes), *arguments)
        known = self._term_of.get(key)
        if known is None:
            return self._make(key, self._type(operator, attributes, arguments, type))
        if type is not None and type != self._types[known]:
            raise EGraphError(f"{operator} is given the type {type} but was added with the type {self._types[known]}")
        return known

    def _head(self, operator: str, attributes: tuple[Hashable, ...]) -> int:
        key = (operator, exact(attributes) if attributes else ())
        head = self._head_of.get(key)
        if head is None:
            head = self._head_of[key] = len(self._heads)
            self._heads.append((operator, attributes))
        return head

    def _type(
        self, operator: str, attributes: tuple[Hashable, ...], arguments: tuple[int, ...], stated: Hashable
    ) -> Hashable:
        if self._typed is None:
            return stated
        found = self._typed(operator, attributes, tuple(self._types[argument] for argument in arguments))
        if None not in (found, stated) and found != stated:
            raise EGraphError(f"{operator} is given the type {stated}, but its arguments make it {found}")
        return stated if found is None else found

    def _interned(self, key: tuple[int, ...], type: Hashable) -> int:
        known = self._term_of.get(key)
        return self._make(key, type) if known is None else known

    def _make(self, key: tuple[int, ...], type: Hashable) -> int:
        find = self.find
        classes = (key[0], *map(find, key[1:]))
        twin = self._node_of.get(classes)
        operator = self._heads[key[0]][0]
        if twin is not None and type != self._types[twin]:
            raise EGraphError(f"{operator} has the type {type} and, of equal arguments, the type {self._types[twin]}")
        term = len(self._terms)
        self._terms.append(key)
        self._term_of[key] = term
        self._types.append(type)
        self._keys.append(None if twin is not None else classes)
        self._keyed.append(0)
        self._changed.append(0)
        if twin is not None:                                        # the same node in other words
            cls = find(twin)
            self._up.append(cls)
            self._members[cls].append(term)
            self._link.append((twin, len(self._edges)))
            self._edges.append((term, twin, CONGRUENCE))
            return term
        self._up.append(term)
        self._link.append(None)
        self._members[term], self._nodes[term], self._parents[term] = [term], {operator: {term: None}}, []
        self._node_of[classes] = term
        self._note_key(term)
        for argument in {*classes[1:]}:
            self._parents[argument].append(term)
        return term

    def term(self, term: int) -> Term:
        """The term with this id, with the arguments it was made with."""
        return Term(*self.application(term), self._types[term])

    def application(self, term: int) -> tuple[str, tuple[Hashable, ...], tuple[int, ...]]:
        """The term's operator, attributes and arguments."""
        key = self._terms[term]
        operator, attributes = self._heads[key[0]]
        return operator, attributes, key[1:]

    def arguments(self, term: int) -> tuple[int, ...]:
        """The arguments the term was made with."""
        return self._terms[term][1:]

    def type(self, term: int) -> Hashable:
        return self._types[term]

    # --------------------------------------------------------------------------------------------------------- classes

    def find(self, term: int) -> int:
        """The class the term is in. The number is good until the next union."""
        up = self._up
        while up[term] != term:
            up[term] = up[up[term]]
            term = up[term]
        return term

    def equal(self, a: int, b: int) -> bool:
        """Whether the two terms are known to be equal."""
        self.rebuild()
        return self.find(a) == self.find(b)

    def members(self, term: int) -> list[int]:
        """All terms in this term's class, oldest first."""
        self.rebuild()
        return sorted(self._members[self.find(term)])

    def nodes(self, term: int) -> Iterator[int]:
        """One term for each distinct (operator, attributes, argument classes) in this term's class."""
        for terms in self._nodes[self.find(term)].values():
            yield from terms

    def nodes_of(self, term: int, operator: str) -> Iterable[int]:
        """The nodes in this term's class that apply this operator."""
        return self._nodes[self.find(term)].get(operator, ())

    def classes(self) -> list[int]:
        """Every class, by its current number."""
        return list(self._members)

    def tables(self) -> tuple[Any, ...]:
        """What compiled patterns read; good until the next term or union. The graph must be rebuilt."""
        return self._terms, self._keys, self._heads, self._nodes, self._keyed, self._changed

    @property
    def node_count(self) -> int:
        """How many nodes there are in all: what budgets count."""
        return len(self._node_of)

    def __len__(self) -> int:
        return len(self._terms)

    # --------------------------------------------------------------------------------------------------------- merging

    def union(self, a: int, b: int, reason: Evidence | RuleUse) -> bool:
        """Make two terms equal.

        False if they were. Raises EGraphError if their types differ. Call `rebuild` after a batch.
        """
        return self._merge(a, b, reason)

    def _merge(self, a: int, b: int, reason: Reason) -> bool:
        winner, loser = self.find(a), self.find(b)
        if winner == loser:
            return False
        if self._types[winner] != self._types[loser]:
            raise EGraphError(
                f"{self._heads[self._terms[a][0]][0]} (term {a}) of type {self._types[a]} cannot equal "
                f"{self._heads[self._terms[b][0]][0]} (term {b}) of type {self._types[b]}"
            )
        mine, yours = self._members[winner], self._members[loser]
        if len(mine) > len(yours):
            self._link_up(b, a, len(self._edges))
        else:
            self._link_up(a, b, len(self._edges))
        self._edges.append((a, b, reason))
        if len(mine) + len(self._parents[winner]) < len(yours) + len(self._parents[loser]):
            winner, loser = loser, winner
        self._up[loser] = winner
        self._members[winner] += self._members.pop(loser)
        nodes, now = self._nodes[winner], len(self._changes)
        for operator, terms in self._nodes.pop(loser).items():
            nodes.setdefault(operator, {}).update(terms)
            self._changes += terms
            for term in terms:
                self._changed[term] = now
        parents = self._parents.pop(loser)
        self._parents[winner] += parents
        self._stale += parents
        return True

    def _note_key(self, node: int) -> None:
        self._keyed[node] = self._changed[node] = len(self._changes)
        self._changes.append(node)

    def _link_up(self, a: int, b: int, edge: int) -> None:
        """Join the trees of `a` and `b` by an edge; that of `a`, the smaller, is turned so that `a` is its root."""
        term: int | None = a
        link: tuple[int, int] | None = (b, edge)
        while term is not None:
            following, self._link[term] = self._link[term], link
            if following is None:
                break
            term, link = following[0], (term, following[1])

    def rebuild(self) -> None:
        """Close the classes under congruence."""
        find, stale, keys, node_of = self.find, self._stale, self._keys, self._node_of
        while stale:
            term = stale.pop()
            old = keys[term]
            if old is None:
                continue
            new = (old[0], *map(find, old[1:]))
            if new == old:
                continue
            del node_of[old]
            twin = node_of.get(new)
            if twin is None:
                node_of[new], keys[term] = term, new
                self._note_key(term)
                continue
            keys[term] = None
            operator, cls = self._heads[old[0]][0], find(term)
            del self._nodes[cls][operator][term]
            if not self._nodes[cls][operator]:
                del self._nodes[cls][operator]
            self._merge(term, twin, CONGRUENCE)

    # ----------------------------------------------------------------------------------------------------------- paths

    def path(self, a: int, b: int) -> list[tuple[int, int]]:
        """The edges from `a` to `b` in the proof forest, as (edge, the end that is nearer to `a`).

        The two must be equal. Both are followed upwards in turn until the ways meet, so that the cost is that of the
        path, however deep its tree.
        """
        up, down = self._link[a], self._link[b]
        if up is not None and up[0] == b:
            return [(up[1], a)]
        if down is not None and down[0] == a:
            return [(down[1], a)]
        meeting = self._meeting(a, b)
        left, right = self._upwards(a, meeting), self._upwards(b, meeting)
        return [(edge, low) for edge, low, _ in left] + [(edge, high) for edge, _, high in reversed(right)]

    def _meeting(self, a: int, b: int) -> int:
        """The lowest term above both, or one of them."""
        link, above_a, above_b = self._link, {a}, {b}
        left, right = link[a], link[b]
        if a == b:
            return a
        while left is not None or right is not None:
            if left is not None:
                if left[0] in above_b:
                    return left[0]
                above_a.add(left[0])
                left = link[left[0]]
            if right is not None:
                if right[0] in above_a:
                    return right[0]
                above_b.add(right[0])
                right = link[right[0]]
        raise EGraphError(f"terms {a} and {b} are not known to be equal, so there is nothing to explain")

    def _upwards(self, term: int, top: int) -> list[tuple[int, int, int]]:
        """The edges on the way up: edge, its lower end, its upper end."""
        found: list[tuple[int, int, int]] = []
        while term != top:
            onward = self._link[term]
            assert onward is not None
            found.append((onward[1], term, onward[0]))
            term = onward[0]
        return found

    def edge(self, number: int) -> tuple[int, int, Reason]:
        """The two terms a merge was stated of, and its reason."""
        return self._edges[number]
