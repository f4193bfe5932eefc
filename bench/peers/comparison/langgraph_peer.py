"""LangGraph: a graph of a model node and the prebuilt ToolNode, with the SQLite or the PostgreSQL saver."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.errors import EmptyInputError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from psycopg import Connection
from psycopg.rows import dict_row

from comparison.conversation import Framework, Plan, blocking_tool_result, filler, model_called


def _append(messages: list[AnyMessage], writes: list[list[AnyMessage]]) -> list[AnyMessage]:
    return messages + [message for write in writes for message in write]


class DeltaState(TypedDict):
    """Messages in a channel that stores only what was added (beta)."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_append)]


@tool
def act(call: str) -> str:
    """Acts."""
    return blocking_tool_result(call)


def model(state: dict[str, Any]) -> dict[str, Any]:
    messages = state["messages"]
    iteration = 1 + sum(isinstance(message, AIMessage) for message in messages)
    model_called(iteration)
    calls = [
        {"name": "act", "args": {"call": call}, "id": call} for call in Plan.of(messages[0].content).calls(iteration)
    ]
    return {"messages": [AIMessage(content=filler(iteration), tool_calls=calls)]}


class LangGraph(Framework):
    def __init__(self, variant: str, store: str) -> None:
        builder = StateGraph(DeltaState if variant == "delta" else MessagesState)
        builder.add_node("model", model)
        builder.add_node("tools", ToolNode([act]))
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition)
        builder.add_edge("tools", "model")
        self._durability = variant if variant in ("sync", "exit") else None
        self._graph = builder.compile(checkpointer=_saver(store))

    async def converse(self, thread: str, plan: Plan) -> None:
        await self._invoke(thread, {"messages": [HumanMessage(plan.prompt())]})

    async def say(self, thread: str, text: str) -> None:
        await self._invoke(thread, {"messages": [HumanMessage(text)]})

    async def recover(self, thread: str) -> str:
        try:
            await self._invoke(thread, None)
        except EmptyInputError:
            return "nothing of the run was saved; started anew, it would run the tool again"
        return "the tool ran again, and the run completed"

    async def _invoke(self, thread: str, given: dict[str, Any] | None) -> dict[str, Any] | None:
        config = {"configurable": {"thread_id": thread}, "recursion_limit": 1_000_000}
        options = {"durability": self._durability} if self._durability else {}
        return await asyncio.to_thread(self._graph.invoke, given, config, **options)


def _saver(store: str) -> SqliteSaver | PostgresSaver:
    if store.startswith("postgresql:"):
        saver = PostgresSaver(Connection.connect(store, autocommit=True, prepare_threshold=0, row_factory=dict_row))
    else:
        saver = SqliteSaver(sqlite3.connect(store, check_same_thread=False))
    saver.setup()
    return saver


def create(variant: str, store: str) -> Framework:
    return LangGraph(variant, store)
