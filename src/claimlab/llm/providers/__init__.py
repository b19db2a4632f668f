"""One file per kind of model provider; each defines PROVIDER, called with a profile."""
