"""Where a server runs: in a place of its own, removed afterwards, and with --sandbox nowhere else."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from socket import create_server
from typing import Any, cast

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.sandbox import sandbox_tool
from toolvet.assess.workspace import Concealer, absolute_words, open_workspace
from toolvet.errors import UnreachableError, UsageError
from toolvet.mcp.transport import HttpTarget, StdioTarget

SERVER = str(Path(__file__).parents[1] / "servers" / "writer.py")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real home and working folder, which a test can look through afterwards."""
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path / "project")
    return folder


def run(*args: str, env: dict[str, str] | None = None, cwd: str | None = None, **options: bool) -> Report:
    target = StdioTarget(sys.executable, (SERVER, *args), env, cwd)
    return asyncio.run(assess(target, Options(**options)))  # type: ignore[arg-type]


def said(report: Report) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(report.tools[0].scenarios[0].result["content"][0]["text"]))


def test_nothing_of_the_real_places_changes_and_nothing_is_left(home: Path, tmp_path: Path) -> None:
    places = said(run())
    assert places["folder"].endswith("toolvet-folder")
    assert not any("refused" in place for place in places.values() if isinstance(place, str))
    assert not list(home.iterdir())
    assert not list((tmp_path / "project").iterdir())
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.usefixtures("home")
def test_a_report_does_not_name_folders_that_are_gone() -> None:
    report = run()
    assert said(report)["home"] == "~/toolvet-home"
    assert said(report)["folder"] == "./toolvet-folder"
    assert "toolvet-place" not in repr(report)
    assert report.server.command == f"{sys.executable} {SERVER}"


def test_the_real_places_on_request(home: Path, tmp_path: Path) -> None:
    report = run(cwd=".", keep_home=True)
    assert (home / "toolvet-home").exists()
    assert (tmp_path / "project" / "toolvet-folder").exists()
    assert not list((tmp_path / "temporary").iterdir())
    assert "toolvet assess --tool get_places" in report.tools[0].scenarios[0].reproduce
    assert "--cwd . --keep-home -- " in report.tools[0].scenarios[0].reproduce


@pytest.mark.usefixtures("home")
def test_a_variable_of_the_user_wins(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert said(run(env={"HOME": str(other)}))["home"] == str(other / "toolvet-home")


def test_caches_of_package_runners_stay_where_they_are(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    monkeypatch.setenv("CARGO_HOME", "/opt/cargo")
    (home / ".npm").mkdir()
    with_home = open_workspace(StdioTarget("npx", ("shop",), {"npm_config_userconfig": "/mine"}))
    kept = open_workspace(StdioTarget("npx", ("shop",)), keep_home=True)
    env, kept_env = dict(_target(with_home.target).env or {}), dict(_target(kept.target).env or {})
    with_home.close()
    kept.close()
    assert env["npm_config_cache"] == str(home / ".npm")
    assert env["npm_config_userconfig"] == "/mine"
    assert env["CARGO_HOME"] == "/opt/cargo"
    assert "UV_CACHE_DIR" not in env
    assert set(kept_env) == {"TMPDIR", "TMP", "TEMP"}
    first_time = open_workspace(StdioTarget("uvx", ("shop",)))
    assert (_target(first_time.target).env or {})["UV_CACHE_DIR"] == str(home / ".cache" / "uv")
    first_time.close()


def _target(target: object) -> StdioTarget:
    assert isinstance(target, StdioTarget)
    return target


def test_relative_paths_that_exist_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "server.py").touch()
    (tmp_path / "shop").mkdir()
    here = str(tmp_path)
    assert absolute_words(("python", "server.py", "--db=./none.db")) == (
        "python",
        f"{here}/server.py",
        "--db=./none.db",
    )
    assert absolute_words((".venv/bin/python", "-m", "shop")) == (f"{here}/.venv/bin/python", "-m", "shop")
    assert absolute_words(("python", "shop")) == ("python", f"{here}/shop")
    assert absolute_words(("uvx", "shop", "./shop")) == ("uvx", "shop", f"{here}/shop")
    assert absolute_words(("node", "--config=./server.py", ".")) == ("node", f"--config={here}/server.py", here)
    assert absolute_words(("no/such", "-", "", "/etc")) == ("no/such", "-", "", "/etc")


@pytest.mark.usefixtures("home")
def test_a_server_that_dies_at_start_is_told_how_to_find_its_files(tmp_path: Path) -> None:
    (tmp_path / "project" / "shop.py").write_text(Path(SERVER).read_text(encoding="utf-8"), encoding="utf-8")
    target = StdioTarget(sys.executable, ("-m", "shop"))
    with pytest.raises(UnreachableError, match=r"`--cwd \.` and `--keep-home` start it in the real ones") as caught:
        asyncio.run(assess(target))
    assert "toolvet-place" not in str(caught.value)
    assert asyncio.run(assess(StdioTarget(target.command, target.args, cwd="."))).score is not None
    with pytest.raises(UnreachableError) as missing:
        asyncio.run(assess(StdioTarget("no-such-program")))
    assert "--keep-home" not in str(missing.value)


@pytest.mark.usefixtures("home")
@pytest.mark.skipif(sys.platform == "win32", reason="locks of files are asked for in another way on Windows")
def test_what_a_killed_run_left_is_removed_and_nothing_else() -> None:
    killed, young, foreign = (
        Path(tempfile.mkdtemp(prefix=prefix)) for prefix in ("toolvet-place-", "toolvet-place-", "x-")
    )
    old = young.stat().st_mtime - 3600
    in_use = open_workspace(StdioTarget("x"))
    assert in_use.folder is not None
    for folder in (killed, foreign, in_use.folder):
        os.utime(folder, (old, old))
    # The lock of this process would be given to it again: another one has to look.
    program = "from toolvet.assess.workspace import *; open_workspace(StdioTarget('y')).close()"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert [folder.exists() for folder in (killed, young, foreign, in_use.folder)] == [False, True, True, True]
    in_use.close()


@pytest.mark.usefixtures("home")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes files with other rights")
def test_folders_without_write_permission_are_removed() -> None:
    place = open_workspace(StdioTarget("x"))
    assert place.folder is not None
    sealed = place.folder / "work" / "module"
    sealed.mkdir()
    (sealed / "file").touch()
    sealed.chmod(0o500)
    place.close()
    assert not place.folder.exists()


def test_a_url_has_its_place_already() -> None:
    target = HttpTarget("http://127.0.0.1:1/mcp")
    assert open_workspace(target).target is target
    with pytest.raises(UsageError, match="a URL leads to a server that runs already"):
        open_workspace(target, sandbox=True)


@pytest.fixture
def sandbox() -> None:
    try:
        sandbox_tool()
    except UsageError as error:
        pytest.skip(f"no sandbox can be made here: {error}")


@pytest.mark.usefixtures("home")
@pytest.mark.usefixtures("sandbox")
def test_a_sandbox_is_read_only_and_has_no_network(tmp_path: Path) -> None:
    elsewhere = Path(__file__).parent / "toolvet-elsewhere"
    with create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        outside = said(run(str(tmp_path / "elsewhere"), port))
        inside = said(run(str(elsewhere), port, sandbox=True))
    assert (tmp_path / "elsewhere").exists()
    assert outside["network"] is True
    assert not elsewhere.exists()
    assert inside["elsewhere"].startswith("refused")
    assert inside["network"] is False
    assert (inside["home"], inside["folder"]) == ("~/toolvet-home", "./toolvet-folder")


@pytest.mark.usefixtures("sandbox")
def test_a_sandbox_may_write_to_the_folder_of_the_user(home: Path, tmp_path: Path) -> None:
    report = run(cwd=str(tmp_path / "project"), sandbox=True)
    assert (tmp_path / "project" / "toolvet-folder").exists()
    assert not list(home.iterdir())
    assert f"--cwd {tmp_path / 'project'} --sandbox -- " in report.tools[0].scenarios[0].reproduce


def test_where_no_sandbox_can_be_made_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox_tool.cache_clear()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="install bubblewrap" if sys.platform == "linux" else "needs Linux"):
        sandbox_tool()
    sandbox_tool.cache_clear()


@pytest.mark.usefixtures("home")
def test_values_of_variables_are_masked_wherever_the_server_repeats_them() -> None:
    report = run(env={"SHOP_KEY": "ENVVALUE777"})
    assert "ENVVALUE777" not in repr(report)
    assert said(report)["key"] == "[redacted]"
    assert said(run(env={"SHOP_KEY": "abc"}))["key"] == "abc", "three letters would be masked in every word"


def test_a_quotation_that_was_cut_inside_a_value_shows_no_part_of_it() -> None:
    concealer = Concealer(StdioTarget("server", env={"SHOP_KEY": "ENVVALUE777"}))
    assert concealer.text("'res://a/ENVVALU…' and 3 more") == "'res://a/[redacted]…' and 3 more"
    assert concealer.text("cannot read ENVVALUE7") == "cannot read [redacted]"
    assert concealer.text("ALUE777: refused") == "[redacted]: refused"
    assert concealer.text("ENV… says ENVY, and more…") == "ENV… says ENVY, and more…"


@pytest.mark.usefixtures("home")
def test_a_list_of_resources_shows_no_part_of_a_value(tmp_path: Path) -> None:
    uri = f"shop://{'a' * 45}/ENVVALUE777ENVVALUE777"
    script = tmp_path / "script.json"
    answers = {"resources/list": {"result": {"resources": [{"uri": uri, "name": "a"}]}}}
    script.write_text(json.dumps({"capabilities": {"resources": {}}, "answers": answers}), encoding="utf-8")
    shelf = str(Path(SERVER).parent / "shelf.py")
    target = StdioTarget(sys.executable, (shelf, str(script)), {"SHOP_KEY": "ENVVALUE777ENVVALUE777"})
    report = asyncio.run(assess(target, Options(timeout=20, era="legacy")))
    assert "resource-undescribed" in {finding.id for finding in report.findings}
    assert "ENVV" not in repr(report)
