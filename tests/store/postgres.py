"""A PostgreSQL server for tests: Debian's programs, a folder of its own, a socket in it, and no network."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = [Path("/usr/lib/postgresql") / version / "bin" for version in ("17", "16", "15", "14", "13")]


def programs() -> Path | None:
    """The folder with `initdb` and `postgres`; None where Debian's package `postgresql` is not installed."""
    found = shutil.which("initdb")
    folders = [*PROGRAMS, *([Path(found).resolve().parent] if found else [])]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


class PostgresServer:
    """A running server. `database()` makes an empty database and returns its URL."""

    def __init__(self, bin_: Path) -> None:
        self._bin = bin_
        # The path of a socket may have a hundred characters, and the server must not run as root.
        self.folder = Path(tempfile.mkdtemp(prefix="tv-pg-", dir="/tmp"))
        self._user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
        os.chown(self.folder, self._user, -1)
        self._run("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "toolvet", "--no-sync", "-E", "UTF8")
        # The user ann needs a password.
        rules = self.folder / "data" / "pg_hba.conf"
        rules.write_text(f"local all ann scram-sha-256\n{rules.read_text(encoding='utf-8')}", encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0
        self.start()

    def start(self) -> None:
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60", "-k", str(self.folder)]
        self._process = subprocess.Popen(
            [str(self._bin / "postgres"), "-D", str(self.folder / "data"), *options],
            user=self._user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while self._run("pg_isready", "-h", str(self.folder), "-U", "toolvet", check=False) != 0:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def stop(self) -> None:
        """End the server as a power failure would."""
        if self._process is not None:
            self._process.send_signal(3)
            self._process.wait()
            self._process = None

    def database(self) -> str:
        """The URL of the one database, which is emptied: making another for each test takes much longer."""
        # A connection that a failed test left open would wait for its lock, and we for it.
        self._say(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = 'postgres' AND pid <> pg_backend_pid()",
            "DROP SCHEMA public CASCADE",
            "CREATE SCHEMA public",
        )
        return f"postgresql+psycopg://toolvet@/postgres?host={self.folder}"

    def own_database(self) -> str:
        """The URL of a database that no other test empties."""
        self._made += 1
        self._say(f"CREATE DATABASE own_{self._made}")
        return f"postgresql+psycopg://toolvet@/own_{self._made}?host={self.folder}"

    def give(self, folder: Path) -> None:
        """Make the server's user the owner of a folder."""
        os.chown(folder, self._user, -1)

    def _say(self, *statements: str) -> None:
        import psycopg  # noqa: PLC0415 - whoever only asks for the programs may not have it

        with psycopg.connect(f"postgresql://toolvet@/postgres?host={self.folder}", autocommit=True) as connection:
            for each in statements:
                connection.execute(each)

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str, check: bool = True) -> int:
        command = [str(self._bin / program), *words]
        done = subprocess.run(command, user=self._user, cwd="/", capture_output=True, check=False)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.returncode
