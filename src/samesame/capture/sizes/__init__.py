"""Graphs over size symbols: a `family` is read off runs at several sizes (`fit`).

`following` runs a program once more with sizes that remember what they were asked (`followed`), and `decisions` turns
that into conditions.
"""
