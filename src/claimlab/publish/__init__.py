"""Results and audits for others to read: bundles to verify, boards made of them, a site."""
