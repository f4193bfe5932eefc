"""All frameworks and variants that are compared, and how their processes are started."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent

TEMPORAL = "temporal"
SQLITE = "sqlite"
POSTGRES = "postgres"


@dataclass(frozen=True)
class Variant:
    """One row of the comparison."""

    framework: str
    store: str
    variant: str
    """`default`, or the differences from the documented defaults."""
    module: str
    """The module of the framework's process, or the side of the Java benchmarks."""
    packages: tuple[str, ...] = ()
    signal: str = "say"
    """The signal with the next message, on Temporal."""

    @property
    def key(self) -> str:
        return f"{self.framework}, {self.store}, {self.variant}"

    def missing(self) -> str | None:
        """A required package or file that is missing."""
        if self.is_java:
            classes = _java_class_path()
            return next((path for path in classes if not Path(path).exists()), None)
        return next((package for package in self.packages if _version(package) is None), None)

    @property
    def is_java(self) -> bool:
        return self.module in ("0", "1", "2")

    def command(self, store: str) -> Sequence[str]:
        if self.is_java:
            main = "dev.waymark.bench.BenchWorkerProcess"
            return ["java", "-cp", ":".join(_java_class_path()), main, self.module, store]
        return [sys.executable, "-m", "comparison.child", self.module, self.variant, store]


def _java_class_path() -> list[str]:
    return [str(ROOT / each) for each in ("bench/target/classes", "starter/target/waymark.jar")]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str]:
    """The installed versions of everything in the catalogue."""
    packages = sorted({package for each in [*CONVERSATIONS, *EFFECTS] for package in each.packages})
    return {package: found for package in packages if (found := _version(package))}


_LANGGRAPH_SQLITE = ("langgraph", "langgraph-checkpoint-sqlite")
_LANGGRAPH_POSTGRES = ("langgraph", "langgraph-checkpoint-postgres")
_OPENAI = ("openai-agents", "temporalio-openai-agents", "temporalio")
_PYDANTIC = ("pydantic-ai-slim", "temporalio")


def _langgraph(store: str, variant: str) -> Variant:
    packages = _LANGGRAPH_SQLITE if store == SQLITE else _LANGGRAPH_POSTGRES
    return Variant("LangGraph", store, variant, "langgraph_peer", packages)


def _dbos(store: str, variant: str) -> Variant:
    return Variant("DBOS", store, variant, "dbos_peer", ("dbos",))


def _bare(variant: str) -> Variant:
    return Variant("bare Temporal, Python", TEMPORAL, variant, "temporal_peer", ("temporalio",))


def _openai(variant: str) -> Variant:
    return Variant("OpenAI Agents SDK", TEMPORAL, variant, "openai_agents_peer", _OPENAI)


def _pydantic(variant: str) -> Variant:
    return Variant("Pydantic AI", TEMPORAL, variant, "pydantic_ai_peer", _PYDANTIC)


WAYMARK = Variant("Waymark", TEMPORAL, "default", "0", signal="answer")
BARE_JAVA = Variant("bare Temporal, Java", TEMPORAL, "default", "1", signal="go")

CONVERSATIONS = [
    BARE_JAVA,
    WAYMARK,
    _bare("default"),
    _langgraph(SQLITE, "default"),
    _langgraph(SQLITE, "delta"),
    _langgraph(POSTGRES, "default"),
    _langgraph(POSTGRES, "delta"),
    _dbos(SQLITE, "default"),
    _dbos(SQLITE, "json"),
    _dbos(POSTGRES, "default"),
    _openai("default"),
    _openai("kept-by-provider"),
    _pydantic("default"),
    _pydantic("continue-as-new"),
]

ACTIONS = [
    BARE_JAVA,
    WAYMARK,
    Variant("Waymark", TEMPORAL, "fuse: 0", "2", signal="answer"),
    _bare("default"),
    _openai("default"),
    _pydantic("default"),
]
"""The frameworks whose billable actions are counted."""

EFFECTS = [
    _bare("default"),
    _bare("maximum-attempts-1"),
    _langgraph(SQLITE, "default"),
    _langgraph(SQLITE, "sync"),
    _langgraph(SQLITE, "exit"),
    _langgraph(POSTGRES, "default"),
    _dbos(SQLITE, "default"),
    _dbos(SQLITE, "no-recovery"),
    _dbos(POSTGRES, "default"),
    _openai("default"),
    _openai("maximum-attempts-1"),
    _pydantic("default"),
    _pydantic("maximum-attempts-1"),
]
"""The frameworks with a crash test, except Waymark, whose crash test uses its own commands."""
