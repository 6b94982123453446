"""HTML reports: one file for each verdict, in the words of the terminal, with the programs drawn side by side."""
