"""Kinds of networks, one file each: a file here with a module-level NETWORK is a kind."""
