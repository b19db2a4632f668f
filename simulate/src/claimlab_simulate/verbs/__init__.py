"""The commands that claimlab gets from this package: `claimlab evolve` and `claimlab generate`."""
