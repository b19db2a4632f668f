"""Data by its address: `https:`, `github:`, `gitlab:`, `hf:`, `zenodo:`, `figshare:`, `doi:` and
`dataverse:` sources, resolved to a fixed version, downloaded once and verified.
"""
