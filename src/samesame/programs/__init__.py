"""What a user hands over, before anything is done with it: found by its name, with the lines it stands on, and its
values taken apart."""
