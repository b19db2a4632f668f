"""The catalogue shown: a card in full, the overview of many, and the page of the docs."""
