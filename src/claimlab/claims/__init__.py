"""The same claim across datasets (`overlap`), and the fact-check that it already has (`match`)."""
