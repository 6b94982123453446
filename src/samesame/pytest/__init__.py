"""The plugin for pytest: a fixture whose assertions share a store of rules and can be pinned. Nothing here loads torch
before a test asks for it."""
