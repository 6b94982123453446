"""Back ends: one file each."""
