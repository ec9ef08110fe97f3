# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.assess.report.batch.document import (
    BatchReport as BatchReport,
    BinCount as BinCount,
    CalibrationBin as CalibrationBin,
    CalibrationCurve as CalibrationCurve,
    ComparisonReport as ComparisonReport,
    CountedWord as CountedWord,
    DriftChange as DriftChange,
    DriftPeriod as DriftPeriod,
    DriftReport as DriftReport,
    DriftSeries as DriftSeries,
    LabelledWord as LabelledWord,
    LabelReport as LabelReport,
    MoveExample as MoveExample,
    NumberFigures as NumberFigures,
    PeriodLength as PeriodLength,
    RowExample as RowExample,
    RowProblem as RowProblem,
    RowsKind as RowsKind,
    ShareFigure as ShareFigure,
    SignalFigures as SignalFigures,
    SignalMove as SignalMove,
    VerdictMove as VerdictMove,
    WordFigures as WordFigures,
)
from toolvet.assess.report.batch.formats import (
    print_batch as print_batch,
    print_comparison as print_comparison,
    render_batch_page as render_batch_page,
)
from toolvet.assess.report.document import (
    SCHEMA_ID as SCHEMA_ID,
    Report as Report,
    Scenario as Scenario,
    load as load,
    schema as schema,
)
from toolvet.assess.report.gate import (
    apply_baseline as apply_baseline,
    thresholds as thresholds,
    why_failed as why_failed,
)
from toolvet.assess.report.overview import (
    AssessedServer as AssessedServer,
    ServersOverview as ServersOverview,
    build_overview as build_overview,
)
from toolvet.assess.report.overview.formats import print_overview as print_overview, render_page as render_page
from toolvet.assess.report.peers import (
    PEERS_FORMATS as PEERS_FORMATS,
    print_peers as print_peers,
)
from toolvet.assess.report.renderers import (
    Format as Format,
    formats as formats,
    render as render,
)
from toolvet.assess.report.renderers.json import encode_document as encode_document
from toolvet.assess.report.replay import (
    REPLAY_FORMATS as REPLAY_FORMATS,
    ReplayedCall as ReplayedCall,
    ReplayReport as ReplayReport,
    print_replay as print_replay,
)
from toolvet.assess.report.terminal import print_report as print_report
from toolvet.assess.report.wording import counted as counted, pretty as pretty
