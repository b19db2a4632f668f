"""The workspace in a browser: datasets, records, audits, runs, traces and reviews below a folder.

A page and its JSON twin come from one function; what it shows is computed on lower floors.
"""
