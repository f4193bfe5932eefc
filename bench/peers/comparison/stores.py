"""The stores of the frameworks: a Temporal server, SQLite files, and a separate PostgreSQL server."""

from __future__ import annotations

import abc
import asyncio
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.request
from pathlib import Path

import psycopg
from psycopg import sql
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client

from comparison.temporal_framework import signal_before_worker, standstill

_ID_COLUMNS = ("thread_id", "workflow_uuid", "destination_uuid")
"""The columns in LangGraph's and DBOS' tables that identify the conversation of a row."""

_START_SECONDS = 60


class Unavailable(Exception):
    """A program that a store needs isn't installed."""


class Store(abc.ABC):
    """Stores the conversations of one or more frameworks."""

    @abc.abstractmethod
    async def open(self, thread: str) -> str:
        """What a framework needs to find the conversation: an address, a URL or a file."""

    async def settle(self, thread: str) -> None:
        """Returns once the store has the complete turn."""

    async def before_resume(self, thread: str, signal_name: str, text: str) -> None:
        """Delivers the next message, if the framework does this before the new process starts."""

    @abc.abstractmethod
    async def stored_bytes(self, thread: str) -> int:
        """The bytes of the conversation's rows or events, without indexes, page overhead and free space."""

    async def discard(self, thread: str) -> None:
        """Deletes the conversation, to free its space."""

    @abc.abstractmethod
    async def version(self) -> str:
        """The product and its version."""

    def close(self) -> None:
        """Stops everything that was started for the store."""


class TemporalStore(Store):
    """The server of `./waymark dev`, for all frameworks on Temporal. The server itself reports the size of a history."""

    def __init__(self, root: Path, directory: Path) -> None:
        # Without the program, `./waymark dev` would use the in-memory server.
        programs = [os.environ.get("TEMPORAL_CLI", ""), "temporal", str(Path.home() / "go/bin/temporal")]
        if not any(map(shutil.which, filter(None, programs))):
            raise Unavailable("the temporal command (TEMPORAL_CLI, PATH or ~/go/bin)")
        self.address = f"127.0.0.1:{_free_port()}"
        self._log = directory / "temporal.log"
        self._client: Client | None = None
        command = [str(root / "waymark"), "dev", "--no-worker", "--no-console", "--db", str(directory / "temporal.db")]
        command += ["--port", self.address.split(":")[1], "--ui-port", str(_free_port())]
        self._server = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _await_port(self.address, self._server)

    async def client(self) -> Client:
        while self._client is None:
            try:
                self._client = await Client.connect(self.address)
            except RuntimeError:
                await asyncio.sleep(0.2)
        return self._client

    async def open(self, thread: str) -> str:
        return self.address

    async def settle(self, thread: str) -> None:
        await standstill((await self.client()).get_workflow_handle(thread))

    async def before_resume(self, thread: str, signal_name: str, text: str) -> None:
        await signal_before_worker(await self.client(), thread, signal_name, text)

    async def stored_bytes(self, thread: str) -> int:
        """The sum over all runs, if the workflow has continued as new."""
        client = await self.client()
        runs = [run.run_id async for run in client.list_workflows(f"WorkflowId = '{thread}'")]
        descriptions = [await client.get_workflow_handle(thread, run_id=run).describe() for run in runs]
        return sum(each.raw_description.workflow_execution_info.history_size_bytes for each in descriptions)

    def _metrics(self) -> str:
        """The URL that the server prints once it is ready."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            for line in self._log.read_text(encoding="utf-8").splitlines():
                if line.startswith("Metrics:"):
                    return line.removeprefix("Metrics:").strip()
            if time.monotonic() > deadline:
                raise RuntimeError(f"no metrics in {self._log}")
            time.sleep(0.2)

    def actions(self) -> dict[str, float]:
        """How many actions the server has counted, by kind. Its metric follows what Temporal Cloud bills."""
        totals: dict[str, float] = {}
        with urllib.request.urlopen(self._metrics(), timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith("action{") and 'namespace="default"' in line:
                    kind = re.search(r'action_type="([^"]*)"', line)
                    name = kind[1] if kind else "action"
                    totals[name] = totals.get(name, 0) + float(line.rsplit(" ", 1)[1])
        return totals

    async def version(self) -> str:
        info = await (await self.client()).workflow_service.get_system_info(GetSystemInfoRequest())
        return f"Temporal server {info.server_version}"

    def close(self) -> None:
        _end(self._server)


class SqliteStore(Store):
    """A file for each conversation."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def _file(self, thread: str) -> Path:
        return self._directory / f"{thread}.sqlite"

    async def open(self, thread: str) -> str:
        return str(self._file(thread))

    async def stored_bytes(self, thread: str) -> int:
        total = 0
        with sqlite3.connect(self._file(thread)) as connection:
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            for (table,) in tables:
                columns = [row[1] for row in connection.execute(f'pragma table_info("{table}")')]
                lengths = " + ".join(f'coalesce(length(cast("{column}" as blob)), 0)' for column in columns)
                for column in set(columns) & set(_ID_COLUMNS):
                    query = f'select coalesce(sum({lengths}), 0) from "{table}" where "{column}" = ?'
                    total += connection.execute(query, (thread,)).fetchone()[0]
        return total

    async def discard(self, thread: str) -> None:
        for file in self._directory.glob(f"{thread}.sqlite*"):
            file.unlink()

    async def version(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"


class PostgresStore(Store):
    """A separate PostgreSQL server, with a database for each conversation."""

    def __init__(self, directory: Path) -> None:
        programs = _postgres_programs()
        self._as_postgres = (
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []
        )
        data = directory / "postgres"
        data.mkdir(mode=0o700)
        if self._as_postgres:
            directory.chmod(0o711)
            shutil.chown(data, "postgres", "postgres")
        self._address = f"127.0.0.1:{_free_port()}"
        initdb = [programs / "initdb", "-D", data, "-U", "peers", "-A", "trust", "--locale=C.UTF-8"]
        subprocess.run([*self._as_postgres, *initdb], check=True, stdout=subprocess.DEVNULL, cwd="/")
        options = ["-p", self._address.split(":")[1], "-k", "", "-c", "listen_addresses=127.0.0.1"]
        self._server = subprocess.Popen(
            [*self._as_postgres, programs / "postgres", "-D", data, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        _await_port(self._address, self._server)

    def _url(self, database: str) -> str:
        return f"postgresql://peers@{self._address}/{database}"

    async def open(self, thread: str) -> str:
        with self._connect("postgres") as connection:
            known = connection.execute("select 1 from pg_database where datname = %s", (thread,)).fetchone()
            if not known:
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(thread)))
        return self._url(thread)

    def _connect(self, database: str) -> psycopg.Connection:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                return psycopg.connect(self._url(database), autocommit=True)
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    async def stored_bytes(self, thread: str) -> int:
        """The size before PostgreSQL compresses large values."""
        tables: dict[tuple[str, str], list[tuple[str, str]]] = {}
        total = 0
        with self._connect(thread) as connection:
            columns = connection.execute(
                "select table_schema, table_name, column_name, data_type from information_schema.columns"
                " join information_schema.tables using (table_schema, table_name)"
                " where table_schema in ('public', 'dbos') and table_type = 'BASE TABLE'"
            )
            for schema, table, column, kind in columns:
                tables.setdefault((schema, table), []).append((column, kind))
            for name, typed in tables.items():
                lengths = sql.SQL(" + ").join(
                    sql.SQL("coalesce(octet_length({}), 0)").format(
                        sql.Identifier(column) + (sql.SQL("") if kind == "bytea" else sql.SQL("::text"))
                    )
                    for column, kind in typed
                )
                for column in {column for column, _ in typed} & set(_ID_COLUMNS):
                    query = sql.SQL("select coalesce(sum({}), 0) from {} where {} = %s").format(
                        lengths, sql.Identifier(*name), sql.Identifier(column)
                    )
                    row = connection.execute(query, (thread,)).fetchone()
                    total += int(row[0]) if row else 0
        return total

    async def discard(self, thread: str) -> None:
        with self._connect("postgres") as connection:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(thread)))

    async def version(self) -> str:
        with self._connect("postgres") as connection:
            return f"PostgreSQL {connection.info.parameter_status('server_version')}"

    def close(self) -> None:
        _end(self._server)


def _postgres_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: int(file.parts[-3]))
    if found:
        return found[-1].parent
    if on_path := shutil.which("postgres"):
        return Path(on_path).resolve().parent
    raise Unavailable("PostgreSQL's programs (/usr/lib/postgresql/*/bin, or postgres on PATH)")


def _free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def _await_port(address: str, server: subprocess.Popen[bytes]) -> None:
    host, port = address.split(":")
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                _end(server)
                raise RuntimeError(f"did not start: {server.args}") from None
            time.sleep(0.2)


def _end(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
