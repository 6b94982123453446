"""Integers: which element, which lane, which program; canonical forms, and questions about them put to Z3."""
