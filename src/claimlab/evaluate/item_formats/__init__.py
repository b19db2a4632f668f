"""Files in which others publish one result for each item, one format a file; see
`evaluate/items.py`."""
