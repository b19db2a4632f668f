"""What claimlab_simulate offers, and where each name comes from; `make docs` writes it."""

from claimlab_simulate.evolve.claims.seed import seed_claims as seed_claims
from claimlab_simulate.evolve.drift.front import drift as drift
from claimlab_simulate.evolve.front import evolve as evolve
from claimlab_simulate.evolve.learn import evolve_learn as evolve_learn
from claimlab_simulate.evolve.validate.front import validate_cascades as validate_cascades
from claimlab_simulate.evolve.worth.front import worth as worth
from claimlab_simulate.generate.filter.front import quality_filter as quality_filter
from claimlab_simulate.generate.front import generate as generate

__version__: str
__all__: list[str]
