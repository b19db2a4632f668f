"""What a score is made of: chance, a shortcut, own signal, what was seen before, and where it
fails.
"""
