"""Background jobs, whose owners are told of their end, and tools that are reloaded meanwhile.

`state` says what there is, `table` what can happen, `claims` what must hold; `world` puts it
together.
"""

from .claims import JOB_SAFETY, false_job_variants, job_claims
from .state import Access, Agent, Executor, Job, Notice, State, Status, Token
from .table import TABLE
from .world import job_world

__all__ = [
    "JOB_SAFETY", "TABLE", "Access", "Agent", "Executor", "Job", "Notice", "State", "Status",
    "Token", "false_job_variants", "job_claims", "job_world",
]  # fmt: skip
