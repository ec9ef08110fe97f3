# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.assess.many.cluster import WORKER as WORKER, ClusterAssessor as ClusterAssessor
from toolvet.assess.many.folder import (
    ResultsFolder as ResultsFolder,
    write_atomically as write_atomically,
)
from toolvet.assess.many.job import (
    AssessmentJob as AssessmentJob,
    AssessmentLimits as AssessmentLimits,
    AssessmentOutcome as AssessmentOutcome,
)
from toolvet.assess.many.pool import (
    Assessor as Assessor,
    ManyWatch as ManyWatch,
    assess_many as assess_many,
)
