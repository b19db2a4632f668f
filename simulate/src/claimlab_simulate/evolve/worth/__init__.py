"""Check-worthiness as a condition, not a property: score = f(claim | social background, users,
perspective).

    score.py     conditions, the questions put to a model that plays the users, weights, readings
    front.py     the verb, its result, its page, and distributions under conditions

It measures; nothing here changes a claim, searches for one that spreads better, or hands a score
back to a rewriter.
"""
