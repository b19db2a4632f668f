"""The version of the package: apart from the front door, so that no room has to import that."""

__version__ = "0.4.0.dev0"
