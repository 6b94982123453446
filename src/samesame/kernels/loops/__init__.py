"""What a loop computes, in closed form: rules first, then a bounded search, and each step proved by induction."""
