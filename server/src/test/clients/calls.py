# Calls each operation of a server, with a client that openapi-python-client has generated from the API's document.
# Prints the status of each: python calls.py ADDRESS TOKEN THREAD
import sys
from typing import Any

from api import AuthenticatedClient
from api import models
from api.api.default import (
    answer,
    approve,
    backfill_schedule,
    call_mcp,
    cancel,
    close,
    create_schedule,
    delete_schedule,
    deny,
    fork_thread,
    get_caller,
    get_checkpoint,
    get_conversation,
    get_document,
    get_file,
    get_health,
    get_result,
    get_schedule,
    get_thread,
    import_checkpoint,
    list_agents,
    list_calls,
    list_grants,
    list_messages,
    list_moments,
    list_pending,
    list_schedules,
    list_threads,
    list_versions,
    pause_schedule,
    raise_budget,
    read_ui_chat,
    resume_schedule,
    resume_thread,
    resume_ui_chat,
    revoke_grant,
    run_ag_ui,
    run_ui_chat,
    say,
    settle,
    start_thread,
    stop,
    trigger_schedule,
    watch_thread,
)
from api.types import Response

address, token, thread = sys.argv[1:]
client = AuthenticatedClient(address, token=token)


def said(name: str, response: Response[Any]) -> None:
    print(name, response.status_code.value)


said("getDocument", get_document.sync_detailed(client=client))
said("getHealth", get_health.sync_detailed(client=client))
said("getCaller", get_caller.sync_detailed(client=client))
said("listAgents", list_agents.sync_detailed(client=client))
said("listThreads", list_threads.sync_detailed(client=client))
said("startThread", start_thread.sync_detailed(client=client, body=models.StartRequest.from_dict({ "agent": "assistant", "message": "Pay", "schema": { "type": "object" }, "context": { "customer": 7, "tags": ["a"] } })))
said("importCheckpoint", import_checkpoint.sync_detailed(client=client, body=models.ImportRequest.from_dict({ "checkpoint": { "format": "runner", "messages": [] } })))
said("getThread", get_thread.sync_detailed(thread, client=client))
said("listMessages", list_messages.sync_detailed(thread, client=client))
said("getConversation", get_conversation.sync_detailed(thread, client=client))
said("getFile", get_file.sync_detailed(thread, "notes.md", client=client))
said("listMoments", list_moments.sync_detailed(thread, client=client))
said("listPending", list_pending.sync_detailed(thread, client=client))
said("listCalls", list_calls.sync_detailed(thread, client=client))
said("listGrants", list_grants.sync_detailed(thread, client=client))
said("listVersions", list_versions.sync_detailed(thread, client=client))
said("getResult", get_result.sync_detailed(thread, client=client))
said("getCheckpoint", get_checkpoint.sync_detailed(thread, client=client))
said("watchThread", watch_thread.sync_detailed("nobody", client=client))
said("say", say.sync_detailed(thread, client=client, body=models.SayRequest.from_dict({ "message": "Hi" })))
said("answer", answer.sync_detailed(thread, client=client, body=models.AnswerRequest.from_dict({ "callId": "tu_1", "answer": "Friday" })))
said("approve", approve.sync_detailed(thread, client=client, body=models.ApproveRequest.from_dict({ "callId": "tu_1", "argsDigest": "d", "args": { "cents": 50 }, "grant": { "times": 3, "like": { "properties": { "cents": { "maximum": 50 } } } } })))
said("deny", deny.sync_detailed(thread, client=client, body=models.DenyRequest.from_dict({ "callId": "tu_1", "argsDigest": "d", "reason": "Too much" })))
said("revokeGrant", revoke_grant.sync_detailed(thread, client=client, body=models.RevokeRequest.from_dict({ "grant": 1 })))
said("settle", settle.sync_detailed(thread, client=client, body=models.SettleRequest.from_dict({ "callId": "tu_1", "outcome": "done", "result": "paid" })))
said("raiseBudget", raise_budget.sync_detailed(thread, client=client, body=models.BudgetRequest.from_dict({ "usd": 2.5 })))
said("stop", stop.sync_detailed(thread, client=client, body=models.Nothing.from_dict({})))
said("close", close.sync_detailed(thread, client=client, body=models.Nothing.from_dict({})))
said("cancel", cancel.sync_detailed(thread, client=client, body=models.Nothing.from_dict({})))
said("forkThread", fork_thread.sync_detailed(thread, client=client, body=models.ForkRequest.from_dict({ "at": "1", "message": "Again" })))
said("resumeThread", resume_thread.sync_detailed(thread, client=client, body=models.ResumeRequest.from_dict({ "answer": "Go on" })))
said("runAgUi", run_ag_ui.sync_detailed("assistant", client=client, body=models.AgUiRequest.from_dict({ "threadId": "trip", "runId": "run", "messages": [{ "id": "m1", "role": "user", "content": "Hi" }] })))
said("runUiChat", run_ui_chat.sync_detailed("assistant", client=client, body=models.UiChatRequest.from_dict({ "id": "trip", "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] }] })))
said("readUiChat", read_ui_chat.sync_detailed("assistant", "trip", client=client))
said("resumeUiChat", resume_ui_chat.sync_detailed("assistant", "trip", client=client))
said("callMcp", call_mcp.sync_detailed(client=client, body=models.CallMcpBody.from_dict({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })))
said("listSchedules", list_schedules.sync_detailed(client=client))
said("createSchedule", create_schedule.sync_detailed(client=client, body=models.ScheduleRequest.from_dict({ "name": "daily", "agent": "assistant", "message": "Pay", "cron": "0 8 * * *", "context": { "customer": 7 } })))
said("getSchedule", get_schedule.sync_detailed("daily", client=client))
said("deleteSchedule", delete_schedule.sync_detailed("daily", client=client))
said("pauseSchedule", pause_schedule.sync_detailed("daily", client=client, body=models.PauseRequest.from_dict({ "note": "Holidays" })))
said("resumeSchedule", resume_schedule.sync_detailed("daily", client=client, body=models.Nothing.from_dict({})))
said("triggerSchedule", trigger_schedule.sync_detailed("daily", client=client, body=models.Nothing.from_dict({})))
said("backfillSchedule", backfill_schedule.sync_detailed("daily", client=client, body=models.BackfillRequest.from_dict({ "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z" })))
