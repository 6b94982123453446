"""fuzz: does the compiler keep equal programs equal?

`program` is a program as data; `generators` make some, `twins` spells one otherwise, `backends` compile it, `oracle`
compares what a caller sees, `judge` goes through the stages and accuses. `campaign` is the verb: it feeds `worker`
processes, which fork for each case; `reduce` and `guilty` make a finding small and say whose fault it is, `corpus` and
`finding` keep it.

Nothing is imported here: a worker process has its threads to set before torch is loaded.
"""
