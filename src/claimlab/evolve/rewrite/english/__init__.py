"""English as the rule rewriter knows it: forms of words, the parts of a sentence, and what would be
a mistake.
"""
