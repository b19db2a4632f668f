"""A shared task: public files without gold, the check that participants run, and the scoring of
what they send.
"""
