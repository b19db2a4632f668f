"""The version of this package: that of the claimlab that it was tested with."""

__version__ = "0.4.0.dev0"
