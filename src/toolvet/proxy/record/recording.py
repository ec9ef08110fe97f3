"""What to record of the calls, and the recorder for that: with the exporters that the user asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolvet.core.redact import SecretMask
from toolvet.errors import StoreError
from toolvet.proxy.record.background import WhenFull
from toolvet.proxy.record.recorder import Recorder, to_stderr

if TYPE_CHECKING:
    from toolvet.proxy.record.recorder import Exporter, InstantExporter


@dataclass(frozen=True)
class Recording:
    """What to record of the calls, and where.

    `store` is a path or a URL, None for none. `name` is the server's name in it; None for the command or URL it was
    started with. `secrets` are values that the user gave for the server, and that no record may hold. `when_full` is
    what happens to the record of a call for which there is no memory. `older_than` and `max_size` say what the store
    deletes, and `sync` whether a record outlives a power failure (see `Store`). `names_for` is what
    other proxies of the user know this server by, "" if they need not know its tools.
    """

    store: str | Path | None = None
    name: str | None = None
    metrics: Literal["on", "off"] = "off"
    telemetry: Literal["on", "off"] = "off"
    secrets: tuple[str, ...] = ()
    when_full: WhenFull = "drop"
    older_than: str | None = None
    max_size: str | None = None
    sync: bool = False
    names_for: str = ""


def recorder_of(recording: Recording) -> Recorder:
    """Return a recorder with the exporters that were asked for; other exporters are not imported."""
    name = recording.name or ""
    known = SecretMask(recording.secrets)
    exporters: list[Exporter | InstantExporter] = []
    if recording.metrics == "on":
        from toolvet.proxy.record.metrics import Metrics  # noqa: PLC0415 - loaded only when asked for

        exporters.append(Metrics(name, known))
    if recording.names_for:
        from toolvet.proxy.record.neighbours import NameKeeper  # noqa: PLC0415 - as above

        exporters.append(NameKeeper(recording.names_for))
    if recording.telemetry == "on":
        from toolvet.proxy.record.telemetry import OtlpTelemetry  # noqa: PLC0415 - an extra, and half a second

        exporters.append(OtlpTelemetry(name, known))
    if recording.store is not None:
        from toolvet.proxy.record.store_exporter import StoreExporter  # noqa: PLC0415 - loaded only when asked for
        from toolvet.store.store import Store  # noqa: PLC0415 - as above

        def complain(words: str) -> None:
            to_stderr(f"the record: {words}")

        store = Store(
            recording.store,
            older_than=recording.older_than,
            max_size=recording.max_size,
            sync=recording.sync,
            complain=complain,
        )
        try:
            store.open()
        except StoreError as error:
            complain(f"{error}; the calls pass, and what is recorded waits in memory")
        exporter = StoreExporter(store, name, known, complain=complain)
        recorder = Recorder([*exporters, exporter], store=store, when_full=recording.when_full)
        exporter.watch(
            lambda: recorder.lost_by(exporter),
            lambda: recorder.waiting_for(exporter),
            lambda: recorder.take_more_for(exporter),
        )
        return recorder
    return Recorder(exporters)
