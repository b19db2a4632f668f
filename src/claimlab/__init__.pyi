"""What claimlab offers, and where each name comes from; `make docs` writes it."""

from claimlab.audit.front import audit as audit
from claimlab.audit.front import diff as diff
from claimlab.catalog.front import catalog as catalog
from claimlab.claims.front import overlap as overlap
from claimlab.claims.match import match as match
from claimlab.clean.front import clean as clean
from claimlab.core.calls.estimate import cost_of as cost_of
from claimlab.core.dataset import Dataset as Dataset
from claimlab.core.errors import ClaimlabError as ClaimlabError
from claimlab.detect.run import detect as detect
from claimlab.enrich.front import enrich as enrich
from claimlab.evaluate.defend.front import defend as defend
from claimlab.evaluate.eqa.write import report as report
from claimlab.evaluate.front import evaluate as evaluate
from claimlab.evaluate.judge.front import judge as judge
from claimlab.exchange.export import export as export
from claimlab.exchange.importer import import_files as import_files
from claimlab.exchange.load import load as load
from claimlab.exchange.merge import merge as merge
from claimlab.pages.show import show as show
from claimlab.publish.board import publish_board as publish_board
from claimlab.publish.bundle import publish_bundle as publish_bundle
from claimlab.publish.site import publish_site as publish_site
from claimlab.publish.task.init import publish_task_init as publish_task_init
from claimlab.publish.task.score import publish_task_score as publish_task_score
from claimlab.publish.task.submission import publish_task_check as publish_task_check
from claimlab.publish.verify import publish_verify as publish_verify
from claimlab.review.apply import review_apply as review_apply
from claimlab.review.asked import review_ask as review_ask
from claimlab.review.create import review_create as review_create
from claimlab.review.estimate import estimate as estimate
from claimlab.review.files import review_export as review_export
from claimlab.review.files import review_import as review_import
from claimlab.review.review import Review as Review
from claimlab.split.run import split as split
from claimlab.study.first_look import check as check
from claimlab.study.front import study_run as study_run
from claimlab.study.prepare import prepare as prepare
from claimlab.study.rerun import rerun as rerun
from claimlab.study.saved import study_table as study_table
from claimlab.web.serve import serve as serve

__version__: str
__all__: list[str]
