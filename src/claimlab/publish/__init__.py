"""Results and audits for others to read: bundles that re-derive, boards made of them, a site."""
