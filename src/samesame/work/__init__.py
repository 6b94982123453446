"""work: many tasks, done by processes of this machine or by those of a Ray cluster.

A verb that has much to do says it as tasks (`tasks`): data, each with a key that is made of all that its result hangs
on. A `crew` hands them to workers, which load what they need once, takes a task back from one that dies, and ends one
that takes too long. Where the workers are is a place: `local` begins processes, or forks of this one; `cluster` holds
processes on the machines of a Ray cluster. Results come to the process that asked, and that one alone writes them down:
in a `record`, from which a run goes on after an interruption. `progress` says how far it is, and where it hangs.

Nothing here knows what a task is, and nothing is imported here: a worker has its threads to set before torch is loaded.
"""
