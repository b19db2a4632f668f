"""What a split can remove, removed: copies, contradictions and leaks. The rest is listed, not
hidden.
"""
