package dev.waymark.checkpoint;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The records of one run, oldest first. Finds the newest snapshot, and what the later records add to it.
 *
 * <p>A record is written after the event that it reports. The records after a snapshot therefore show which of the
 * snapshot's calls may have run, although the snapshot has no results of these calls.
 */
final class PhasesChain {
    /** The phase of the record that ends a run. */
    static final String LAST = "run_terminal";

    private static final long LAST_MILLIS = 253_402_300_799_999L;
    private static final Set<String> PHASES = Set.of(
            "run_started",
            "step_started",
            "pre_llm",
            "post_llm",
            "pre_tool_batch",
            "post_tool_batch",
            "pre_subagent_batch",
            "post_subagent_batch",
            "paused",
            "resumed",
            "runtime_state",
            LAST);
    private static final Map<String, Set<String>> MOVES = Map.of(
            "pending", Set.of("running", "cancelled", "failed"),
            "running", Set.of("paused", "cancelling", "cancelled", "degraded", "failed", "completed"),
            "paused", Set.of("running", "cancelling", "cancelled", "failed"),
            "cancelling", Set.of("cancelled", "failed"),
            "degraded", Set.of("failed", "completed"),
            "cancelled", Set.of(),
            "failed", Set.of(),
            "completed", Set.of());

    private final List<Entry> entries;
    private final String thread;
    private final int newest;

    record Entry(
            CheckpointFields fields,
            String runId,
            Optional<String> thread,
            int step,
            String phase,
            Instant at,
            CheckpointFields payload) {
        boolean isSnapshot() {
            return payload.has("llm_calls");
        }

        /** Whether the record ends a batch, and with it all calls of the batch. */
        boolean endsBatch() {
            return phase.equals("post_tool_batch") || phase.equals("post_subagent_batch");
        }

        boolean isOf(String... phases) {
            return Set.of(phases).contains(phase);
        }
    }

    /**
     * A pause, in which the run waits only for people.
     *
     * @param words the question, or the name of the tool to approve; empty if the record has neither
     * @param another whether this pause comes after the snapshot, and an earlier pause had not ended before the
     *     snapshot
     */
    record Pause(boolean approval, String words, Instant at, boolean another) {}

    private PhasesChain(List<Entry> entries) {
        this.entries = entries;
        this.newest = newestSnapshot(entries);
        this.thread = thread(entries);
        check();
    }

    static PhasesChain of(List<?> records) {
        boolean alone = records.size() == 1;
        return new PhasesChain(
                CheckpointFields.each(records, "", (record, place) -> entry(record, alone ? "" : place)));
    }

    /** Reads a record. Field names of earlier versions are accepted if the new ones are missing. */
    private static Entry entry(Object value, String place) {
        Map<String, Object> tree = new LinkedHashMap<>();
        CheckpointFields raw = CheckpointFields.of(value, place);
        raw.names().forEach(name -> tree.put(name, raw.value(name)));
        adopt(tree, "schema_version", "schemaVersion");
        adopt(tree, "schema_version", "version");
        adopt(tree, "run_id", "runId");
        adopt(tree, "thread_id", "threadId");
        adopt(tree, "payload", "data");
        CheckpointFields fields = CheckpointFields.of(tree, place);
        if (fields.has("schema_version") && !"v1".equals(fields.value("schema_version"))) {
            throw fields.corrupt("no such schema_version: " + fields.value("schema_version"));
        }
        String phase = fields.text("phase");
        if (!PHASES.contains(phase)) {
            throw fields.corrupt("no such phase: " + phase);
        }
        int step = fields.has("step") ? fields.count("step") : 0;
        long millis = fields.total("timestamp_ms");
        if (millis > LAST_MILLIS) {
            throw fields.corrupt("\"timestamp_ms\" is not a time");
        }
        String runId = fields.id("run_id");
        CheckpointFields payload = fields.object("payload");
        Optional<String> thread = same(fields.optionalId("thread_id"), payload, "thread_id");
        if (phase.equals(LAST)) {
            CheckpointFields result = payload.object("terminal_result");
            thread = same(thread, result, "thread_id");
            same(Optional.of(runId), result, "run_id");
        }
        return new Entry(fields, runId, thread, step, phase, Instant.ofEpochMilli(millis), payload);
    }

    private static void adopt(Map<String, Object> tree, String name, String legacy) {
        if (tree.containsKey(legacy)) {
            Object value = tree.remove(legacy);
            tree.putIfAbsent(name, value);
        }
    }

    /** Returns a value that a record may contain in several places. Different values are corruption. */
    private static Optional<String> same(Optional<String> known, CheckpointFields fields, String name) {
        Optional<String> here = fields.optionalId(name);
        if (known.isPresent() && here.isPresent() && !known.equals(here)) {
            throw fields.corrupt("\"" + name + "\" differs from the record's: " + here.get());
        }
        return known.or(() -> here);
    }

    private static int newestSnapshot(List<Entry> entries) {
        int newest = -1;
        for (int i = 0; i < entries.size(); i++) {
            newest = entries.get(i).isSnapshot() ? i : newest;
        }
        return newest;
    }

    /** Some programs name the thread in snapshots only. */
    private static String thread(List<Entry> entries) {
        return entries.stream()
                .flatMap(entry -> entry.thread().stream())
                .findFirst()
                .orElseThrow(() -> entries.get(0).fields().corrupt("\"thread_id\" is missing"));
    }

    private void check() {
        Entry last = entries.get(0);
        String state = "";
        for (Entry entry : entries) {
            if (!entry.runId().equals(last.runId())
                    || entry.thread().filter(id -> !id.equals(thread)).isPresent()) {
                throw entry.fields().corrupt("a record of another run");
            }
            if (entry.at().isBefore(last.at())) {
                throw entry.fields().corrupt("a record that is older than the one before");
            }
            if (entry.isOf("run_started")) {
                state = ""; // A run that was continued may go on in any state.
            }
            if (entry.payload().has("state")) {
                state = moved(entry, state);
            }
            last = entry;
        }
    }

    private static String moved(Entry entry, String before) {
        String state = entry.payload().text("state");
        if (!MOVES.containsKey(state)) {
            throw entry.payload().corrupt("no such state: " + state);
        }
        if (!before.isEmpty()
                && !before.equals(state)
                && !MOVES.getOrDefault(before, Set.of()).contains(state)) {
            throw entry.payload().corrupt("no transition from " + before + " to " + state);
        }
        return state;
    }

    String thread() {
        return thread;
    }

    String runId() {
        return entries.get(0).runId();
    }

    /** The last record, if it ends the run. */
    Optional<Entry> end() {
        return Optional.of(entries.get(entries.size() - 1)).filter(entry -> entry.isOf(LAST));
    }

    Optional<Entry> snapshot() {
        return newest < 0 ? Optional.empty() : Optional.of(entries.get(newest));
    }

    CheckpointFields last() {
        return entries.get(entries.size() - 1).fields();
    }

    /** The agent in the last record that names one: the start of a run, or a record that was printed on its own. */
    String agent() {
        return entries.stream()
                .flatMap(entry -> Stream.concat(
                        entry.isOf("run_started")
                                ? entry.payload().optionalText("agent_name").stream()
                                : Stream.empty(),
                        entry.fields().isNull("agent_name")
                                ? Stream.empty()
                                : Stream.of(entry.fields().text("agent_name"))))
                .reduce((earlier, later) -> later)
                .orElse("");
    }

    /** The results recorded in any of the records. */
    RecordedEffects effects() {
        RecordedEffects effects = new RecordedEffects();
        for (Entry entry : entries) {
            if (!entry.fields().isNull("effects")) {
                effects.add(entry.fields().object("effects"), entry.step());
            }
        }
        return effects;
    }

    /** Whether the snapshot's calls have ended, with any outcome. */
    boolean isBatchOver() {
        return after().stream()
                .anyMatch(entry ->
                        entry.endsBatch() || entry.step() > entries.get(newest).step());
    }

    /** The first end of a batch after the snapshot. */
    Optional<Entry> batchSinceSnapshot() {
        return after().stream().filter(Entry::endsBatch).findFirst();
    }

    /**
     * The end of a batch that the snapshot cannot include, since the snapshot is older than the reply with the calls.
     */
    Optional<Entry> batchOfLaterReply() {
        boolean beforeReply = newest > 0 && entries.get(newest - 1).isOf("step_started");
        for (Entry entry : after()) {
            beforeReply |= entry.isOf("pre_llm", "post_llm");
            if (beforeReply && entry.endsBatch()) {
                return Optional.of(entry);
            }
        }
        return Optional.empty();
    }

    /** The newest pause, unless it ended before the snapshot. */
    Optional<Pause> pause() {
        Pause pause = null;
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.isOf("paused")) {
                boolean approval = "approval".equals(entry.payload().value("kind"));
                String words = entry.payload()
                        .optionalText(approval ? "reason" : "prompt")
                        .orElse("");
                pause = new Pause(approval, words, entry.at(), i > newest && pause != null);
            } else if (entry.isOf("resumed") && i < newest) {
                pause = null;
            }
        }
        return Optional.ofNullable(pause);
    }

    Optional<Pause> pauseSinceSnapshot() {
        return after().stream().anyMatch(entry -> entry.isOf("paused")) ? pause() : Optional.empty();
    }

    private List<Entry> after() {
        return entries.subList(newest + 1, entries.size());
    }
}
