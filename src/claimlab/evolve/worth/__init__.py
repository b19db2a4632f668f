"""Check-worthiness as a condition, not a property: score = f(claim | social background, users,
perspective).

    values.py    six content values of a claim, by its features, and how each user shifts them
    spread.py    how deep and how far a claim would travel over tiers of ties
    score.py     both together: weights, threshold, readings `paper`, `released` and our own
    agents.py    the same two questions put to a model that plays the users
    compare.py   distributions under conditions, and their distance from people's scores

It measures; nothing here changes a claim, searches for one that spreads better, or hands a score
back to a rewriter.
"""
