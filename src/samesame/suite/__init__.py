"""A suite: many pairs, jobs and kernels with the verdicts that are expected of them, in one run.

`entries` reads the file; `asking` decides one entry, in a process of its own (`forks`); `reads` says what it read, so
that an entry whose programs have not changed since is free (`kept`); `verb` is the run, `table` its report.
"""
