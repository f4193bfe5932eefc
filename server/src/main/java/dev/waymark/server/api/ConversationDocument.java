package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.client.document.CallLog;
import dev.waymark.client.document.GrantItem;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.SafeText;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A thread at one point of its history, in the form that a front end shows. All parts of the conversation come from one
 * state, so they are consistent.
 */
final class ConversationDocument {
    private final Timeline timeline;
    private final Conversation state;
    private final ThreadCourse course;
    private final ObjectNode document;

    private ConversationDocument(Timeline timeline, ObjectNode document) {
        this.timeline = timeline;
        this.state = timeline.now();
        this.course = ThreadCourse.of(timeline);
        this.document = document;
    }

    /** The thread at a moment; without one, in its newest state. */
    static ObjectNode of(Timeline whole, Optional<Moment> at) {
        Timeline timeline = at.map(whole::upTo).orElse(whole);
        ObjectNode document = JsonDocuments.show(timeline);
        document.put("open", whole.ending().isEmpty());
        boolean isCurrent = timeline.equals(whole);
        document.put("current", isCurrent);
        ConversationDocument conversation = new ConversationDocument(timeline, document);
        conversation.complete();
        conversation.addGrants(isCurrent ? Instant.now() : timeline.now().updatedAt());
        return document;
    }

    private void complete() {
        addPlace();
        addLimits();
        timeline.agent().ifPresent(this::addAgent);
        parent().ifPresent(parent -> document.put("parent", parent));
        document.set(
                "queued",
                JsonDocuments.tree(state.queue().stream()
                        .map(queued -> queued.message().text())
                        .toList()));
        addWorkspace();
        course.addTo(document, state.transcript());
        document.set("pending", pending());
        document.set("calls", calls());
    }

    /** The approvals that also let later calls run, with their state at this time. Absent if there are none. */
    private void addGrants(Instant now) {
        List<GrantItem> grants = GrantItem.of(state, now);
        if (grants.isEmpty()) {
            return;
        }
        ArrayNode list = document.putArray("grants");
        for (GrantItem grant : grants) {
            ObjectNode row = PayloadJson.MAPPER.valueToTree(grant);
            grant.like().or(grant::args).ifPresent(json -> row.put("argsText", text(json)));
            list.add(row);
        }
    }

    private void addPlace() {
        if (timeline.moments().isEmpty()) {
            return;
        }
        Moment last = timeline.moments().get(timeline.moments().size() - 1);
        document.put("position", last.address());
        document.put("at", last.at().toString());
        document.put("version", state.counters().versions());
    }

    private void addLimits() {
        state.iterationLimit().ifPresent(most -> document.put("maxIterations", most));
        document.set("totalUsage", JsonDocuments.usage(state.spent().usage()));
        course.inherited().ifPresent(spent -> ThreadCourse.addSpent(document.putObject("inherited"), spent));
        document.set("budget", JsonDocuments.tree(state.limits()));
    }

    private void addAgent(AgentSpec agent) {
        document.put("model", agent.model());
        agent.description().ifPresent(text -> document.put("description", text));
    }

    /** The id of the parent thread, derived from this thread's id. Empty for a root thread. */
    private Optional<String> parent() {
        String suffix = state.parent().map(link -> "/" + link.callId()).orElse("");
        return Optional.of(timeline.thread())
                .filter(id -> !suffix.isEmpty() && id.endsWith(suffix))
                .map(id -> id.substring(0, id.length() - suffix.length()));
    }

    /** The agent's to-dos and plan, and the names of its files. Absent if it has none. */
    private void addWorkspace() {
        Workspace workspace = state.workspace();
        if (workspace.isEmpty()) {
            return;
        }
        ObjectNode row = document.putObject("workspace");
        row.set("todos", JsonDocuments.tree(workspace.todos()));
        workspace.plan().ifPresent(plan -> row.set("plan", JsonDocuments.tree(plan)));
        ArrayNode files = row.putArray("files");
        workspace
                .files()
                .forEach((path, file) -> files.addObject()
                        .put("path", path)
                        .put("length", file.content().length())
                        .put("modifiedAt", file.modifiedAt().toString()));
    }

    private ArrayNode pending() {
        ArrayNode list = PayloadJson.MAPPER.createArrayNode();
        for (PendingItem item : timeline.pending()) {
            ObjectNode row = (ObjectNode) JsonDocuments.tree(item);
            item.args().ifPresent(args -> {
                row.put("argsText", text(args));
                if (item.hasCutArgs()) {
                    row.put("argsCut", true);
                }
            });
            row.set("notes", JsonDocuments.tree(item.notes()));
            row.put("rerun", item.outcomes().contains(CallSettlement.Outcome.RERUN.wireName()));
            // A request of a subagent has an id in that subagent's thread, which knows its tools.
            state.calls().get(item.callId()).ifPresent(call -> completeOwn(row, call));
            list.add(row);
        }
        return list;
    }

    private void completeOwn(ObjectNode row, Call call) {
        timeline.agent().flatMap(agent -> agent.tool(call.tool())).ifPresent(tool -> {
            row.put("description", tool.description());
            row.set("schema", PayloadJson.MAPPER.valueToTree(tool.input()));
        });
        call.wakeAt()
                .filter(at -> call.status() == Call.Status.AWAITING)
                .ifPresent(at -> row.put("until", at.toString()));
    }

    private ArrayNode calls() {
        List<CallItem> rows = CallLog.of(timeline);
        ArrayNode list = CallLog.document(rows, CallLog.results(timeline));
        for (int i = 0; i < rows.size(); i++) {
            CallItem item = rows.get(i);
            ObjectNode row = (ObjectNode) list.get(i);
            course.startOf(item.callId()).ifPresent(at -> row.put("startedAt", at.toString()));
            Optional<Call> call = state.calls().get(item.callId());
            if (call.isPresent()) {
                complete(row, call.get());
            } else {
                completeDropped(row, item);
            }
        }
        return list;
    }

    /**
     * Completes the row of a call that a summary dropped from the state. The call had ended, and no subagent executed
     * it.
     */
    private void completeDropped(ObjectNode row, CallItem item) {
        row.put("argsText", text(item.args()));
        row.put("phase", item.status());
        state.callBook().dropped().flatMap(turns -> turns.get(item.callId())).ifPresent(turn -> row.put("turn", turn));
    }

    private void complete(ObjectNode row, Call call) {
        row.put("argsText", text(call.args()));
        row.put("turn", call.turn());
        row.put("phase", PayloadJson.MAPPER.valueToTree(call.status()).asText());
        if (call.approval().filter(CallApproval::edited).isPresent()) {
            proposed(call.id()).ifPresent(args -> row.put("proposedText", text(args)));
        }
        call.evidence().ifPresent(seen -> row.put("evidence", seen));
        if (state.isForSubagent(call)) {
            ObjectNode subagent = row.putObject("subagent");
            subagent.put("thread", timeline.thread() + "/" + call.id());
            subagent.put("agent", call.tool());
            Optional.of(course.changedCalls(call.id()))
                    .filter(changed -> !changed.isEmpty())
                    .ifPresent(changed -> subagent.set("changed", JsonDocuments.tree(changed)));
            call.subagent().ifPresent(told -> {
                subagent.put("waiting", told.report().waiting());
                subagent.set(
                        "totalUsage", JsonDocuments.usage(told.report().spent().usage()));
                told.report().spent().cost().ifPresent(cost -> subagent.put("costUsd", cost.dollars()));
            });
        }
    }

    /** The arguments with which the model made the call. Empty if a summary replaced its message. */
    private Optional<Json> proposed(String callId) {
        return state.transcript().messages().stream()
                .flatMap(message -> message.toolUses().stream())
                .filter(use -> use.id().equals(callId))
                .map(Part.ToolUse::input)
                .findFirst();
    }

    /**
     * The exact JSON as text, because JSON parsers of browsers round large numbers. Invisible characters are escaped.
     */
    private static String text(Json args) {
        return SafeText.json(args.canonical());
    }
}
