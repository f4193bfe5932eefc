package dev.waymark.client.document;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.ThreadWatch;
import dev.waymark.client.TurnHandle;
import dev.waymark.codec.ScheduledThread;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.thread.StatusReport;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.timeline.Version;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Creates the JSON documents of the command line and the HTTP API. New versions add fields and never remove any. */
public final class JsonDocuments {
    private static final JsonMapper MAPPER = PayloadJson.MAPPER
            .rebuild()
            .addMixIn(UntrustedWords.class, SentenceForPeople.class)
            .build();

    /** Adds the sentence for people, which is not stored. */
    private interface SentenceForPeople {
        @JsonProperty("sentence")
        Optional<String> sentence();
    }

    private JsonDocuments() {}

    public static ObjectNode of(AgentResult result) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("status", result.status());
        document.put("interrupted", AgentResult.isInterrupted(result));
        document.put("thread", result.thread());
        document.put("runId", result.runId());
        if (result instanceof AgentResult.Complete complete) {
            document.put("text", complete.text());
        }
        if (result instanceof AgentResult.Cut cut) {
            document.put("text", cut.text());
        }
        if (result instanceof AgentResult.Interrupted interrupted) {
            document.put("question", interrupted.question());
            document.set("pending", tree(interrupted.pending()));
        }
        result.problem().ifPresent(problem -> document.set("error", error(problem)));
        document.set("structured", structured(result));
        document.set("messages", tree(result.checkpoint()).path("messages"));
        document.set("usage", usage(result.usage()));
        document.put("iterations", result.iterations());
        document.set("costUsd", dollars(result.cost()));
        document.put("queued", result.queued());
        document.set("checkpoint", tree(result.checkpoint()));
        return document;
    }

    private static JsonNode structured(AgentResult result) {
        return result instanceof AgentResult.Complete complete
                ? complete.structured().map(JsonDocuments::tree).orElseGet(NullNode::getInstance)
                : NullNode.getInstance();
    }

    /**
     * Returns the document for a cancelled thread. Its status is {@code cancelled}, even if the last turn is complete.
     */
    public static ObjectNode cancelled(AgentResult result) {
        ObjectNode document = of(result);
        document.put("status", "cancelled");
        return document;
    }

    public static ObjectNode of(String status, TurnHandle turn) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("status", status);
        document.put("thread", turn.thread());
        document.put("runId", turn.runId());
        return document;
    }

    /** Returns the document for a new fork, which names the event that was copied. */
    public static ObjectNode forked(TurnHandle fork, String ancestor) {
        TurnHandle.ForkPoint from = fork.forkPoint().orElseThrow();
        ObjectNode document = of(from.status(), fork);
        document.putObject("forkedFrom").put("thread", ancestor).put("at", from.at());
        return document;
    }

    public static ObjectNode show(Timeline timeline) {
        Conversation now = timeline.now();
        StatusReport status = ThreadStatus.of(now);
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("thread", timeline.thread());
        document.put("runId", timeline.runId());
        document.put("agent", now.agent());
        ScheduledThread.of(timeline.thread()).ifPresent(scheduled -> document.put("schedule", scheduled.schedule()));
        document.put("open", timeline.ending().isEmpty());
        document.put("status", status.status());
        document.put("phase", status.phase());
        document.put("turn", status.turn());
        document.put("iterations", status.iterations());
        document.set("usage", usage(status.usage()));
        document.set("costUsd", dollars(now.cost()));
        if (!timeline.fallbacks().isEmpty()) {
            document.set("fallbacks", tree(timeline.fallbacks()));
        }
        document.put("queued", status.queued());
        document.set("pending", tree(timeline.pending()));
        now.untrusted().filter(words -> !words.isNone()).ifPresent(words -> document.set("untrusted", tree(words)));
        now.turn().problem().ifPresent(problem -> document.set("error", error(problem)));
        timeline.stoppedHere().ifPresent(words -> document.put("stoppedHere", words));
        document.put("ignoredCount", status.ignoredCount());
        document.set("ignored", tree(status.ignored()));
        document.set("messages", tree(RunnerCheckpoint.messages(now)));
        return document;
    }

    /** Returns the document with whole results, and with the calls that run together with the model call. */
    public static ObjectNode show(Timeline timeline, List<ThreadEvent.RunningCall> running) {
        ObjectNode document = show(timeline);
        List<LongResult> whole = timeline.now().callBook().longResults();
        if (!whole.isEmpty()) {
            ObjectNode texts = document.putObject("wholeResults");
            whole.forEach(result -> texts.put(result.callId(), result.text()));
        }
        if (!running.isEmpty()) {
            document.set("running", tree(running));
        }
        return document;
    }

    public static ArrayNode versions(Timeline timeline) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        Iterator<Moment> moments = timeline.moments().iterator();
        for (Version version : timeline.versions()) {
            Moment moment = version.moment();
            ObjectNode row = list.addObject();
            row.put("version", version.number());
            row.put("runId", moment.runId());
            row.put("eventId", moment.eventId());
            row.put("at", moment.at().toString());
            row.put("phase", version.state().phase().wireName());
            row.put("iterations", version.state().turn().iterations());
            row.set("usage", usage(version.state().turn().usage()));
            row.put("digest", version.state().transcript().digest());
            row.set("types", typesUpTo(moment, moments));
        }
        return list;
    }

    /** What happened up to this moment, since the one before: each type of event once. */
    private static ArrayNode typesUpTo(Moment last, Iterator<Moment> moments) {
        Set<String> types = new LinkedHashSet<>();
        boolean isLast = false;
        while (!isLast && moments.hasNext()) {
            Moment moment = moments.next();
            moment.fact().ifPresent(fact -> types.add(fact.type()));
            isLast = moment.address().equals(last.address());
        }
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        types.forEach(list::add);
        return list;
    }

    /**
     * A line of {@code watch}. A moment without a fact is the start of a run that continues another one. The last fact
     * of an event has no {@code index}.
     */
    public static ObjectNode of(Moment moment) {
        ObjectNode line = line(moment.at(), moment.runId(), moment.eventId());
        if (!moment.place().isLast()) {
            line.put("index", moment.place().index());
        }
        line.put("type", moment.fact().map(fact -> fact.type()).orElse("run-continued"));
        moment.fact().ifPresent(fact -> line.setAll((ObjectNode) PayloadJson.MAPPER.valueToTree(fact)));
        return line;
    }

    /** A line of {@code watch}, or what a stream sends for an event of a {@link ThreadWatch}. */
    public static ObjectNode of(ThreadEvent event) {
        if (event instanceof ThreadEvent.Happened happened) {
            return of(happened.moment());
        }
        if (event instanceof ThreadEvent.Said said) {
            return delta("text-delta", said.words());
        }
        if (event instanceof ThreadEvent.Reasoned reasoned) {
            return delta("reasoning-delta", reasoned.words());
        }
        if (event instanceof ThreadEvent.CallsRunning running) {
            ObjectNode line = line(running.at(), running.runId(), running.eventId());
            line.put("type", "calls-running");
            line.put("attempt", running.attempt());
            line.set("calls", tree(running.calls()));
            return line;
        }
        if (event instanceof ThreadEvent.Saved saved) {
            return line(saved.at(), saved.runId(), saved.eventId()).setAll(saved(saved.threadId(), saved.step()));
        }
        if (event instanceof ThreadEvent.Loaded loaded) {
            ObjectNode line = line(loaded.at(), loaded.runId(), loaded.eventId());
            line.put("type", "checkpoint-loaded");
            line.put("threadId", loaded.threadId());
            line.put("step", loaded.step());
            line.put("messagesCount", loaded.messagesCount());
            return line;
        }
        if (event instanceof ThreadEvent.WorkersChanged workers) {
            return workers.absence()
                    .map(absence -> typed("no-worker").put("message", absence.getMessage()))
                    .orElseGet(() -> typed("worker-back"));
        }
        if (event instanceof ThreadEvent.StatusChanged changed) {
            return typed("status").setAll((ObjectNode) tree(changed));
        }
        if (event instanceof ThreadEvent.Restarted) {
            return typed("restarted");
        }
        throw new IllegalArgumentException("unknown event: " + event);
    }

    private static ObjectNode delta(String type, ThreadEvent.TextDelta words) {
        ObjectNode line = line(words.at(), words.runId(), words.eventId());
        line.put("type", type);
        line.put("attempt", words.attempt());
        line.put("from", words.from());
        line.put("text", words.text());
        return line;
    }

    /** A line of {@code save}: a saved checkpoint. */
    public static ObjectNode saved(String thread, int step) {
        ObjectNode line = typed("checkpoint-saved");
        line.put("threadId", thread);
        line.put("step", step);
        return line;
    }

    /** Returns a document that has only this type. */
    public static ObjectNode typed(String type) {
        return JsonNodeFactory.instance.objectNode().put("type", type);
    }

    private static ObjectNode line(Instant at, String runId, long eventId) {
        ObjectNode line = JsonNodeFactory.instance.objectNode();
        line.put("at", at.toString());
        line.put("runId", runId);
        line.put("eventId", eventId);
        return line;
    }

    /** Returns the amount in dollars, or null if no price is known. */
    private static JsonNode dollars(Optional<Usd> amount) {
        return amount.<JsonNode>map(usd -> JsonNodeFactory.instance.numberNode(usd.dollars()))
                .orElseGet(JsonNodeFactory.instance::nullNode);
    }

    public static ObjectNode usage(Usage usage) {
        return PayloadJson.MAPPER.valueToTree(usage);
    }

    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    private static ObjectNode error(Problem problem) {
        ObjectNode error = JsonNodeFactory.instance.objectNode();
        error.put("type", problem.type());
        error.put("message", problem.message());
        return error;
    }
}
