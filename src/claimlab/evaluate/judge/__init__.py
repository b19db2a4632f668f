"""Judges of rationales: does what a detector said contradict a professional fact-check of the same
claim?

A label can be counted wrong although the reasons behind it are sound, and right although they are
not. A judge holds the reasons against the fact-checking article. It is itself compared with
annotators on a labelled sample, or marked unvalidated.
"""
