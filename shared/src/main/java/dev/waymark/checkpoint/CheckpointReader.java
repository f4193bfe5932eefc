package dev.waymark.checkpoint;

import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.CheckpointFormat;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reads a checkpoint of any documented format, detected by its shape, back into a conversation.
 *
 * <p>A checkpoint is read completely or not at all: any deviation from its format is {@link CheckpointCorruption}.
 * Reading takes a bounded time, however large or deep the document is.
 *
 * <pre>{@code
 * RestoredCheckpoint recovered = CheckpointReader.read(Files.readAllBytes(file), Instant.now());
 * List<Message> said = recovered.state().transcript().messages();
 * }</pre>
 */
public final class CheckpointReader {
    /** Larger documents are rejected. */
    public static final int MAX_BYTES = CheckpointJson.MAX_BYTES;

    private CheckpointReader() {}

    /** @param now the time of everything that has no time in the checkpoint */
    public static RestoredCheckpoint read(byte[] text, Instant now) {
        List<Json> documents = CheckpointJson.read(text);
        if (documents.isEmpty()) {
            throw CheckpointCorruption.at("", "it is empty");
        }
        return sound(
                () -> documents.size() == 1 ? read(documents.get(0), now) : PhasesReader.chain(Json.of(documents)));
    }

    /**
     * Reads a thread from a saver. Unlike other checkpoints, it may have no messages, since the thread may have been
     * cleared.
     */
    public static RestoredCheckpoint readSaved(byte[] text, Instant now) {
        List<Json> documents = CheckpointJson.read(text);
        boolean cleared = documents.size() == 1
                && documents.get(0).isObject()
                && documents.get(0).field("threadId") != null
                && List.of().equals(documents.get(0).field("messages"));
        if (!cleared) {
            return read(text, now);
        }
        Json document = documents.get(0);
        return sound(() -> recovered(
                CheckpointFormat.THREAD, document, ThreadReader.readCleared(CheckpointFields.of(document, ""))));
    }

    private static RestoredCheckpoint sound(Supplier<RestoredCheckpoint> reader) {
        try {
            return reader.get();
        } catch (IllegalArgumentException e) {
            throw CheckpointCorruption.at("", String.valueOf(e.getMessage()));
        }
    }

    private static RestoredCheckpoint read(Json document, Instant now) {
        if (document.value() instanceof List<?> list) {
            return list(document, list, now);
        }
        CheckpointFields fields = CheckpointFields.of(document, "");
        if (fields.has("session") && fields.has("checkpoint")) {
            return recovered(CheckpointFormat.SESSION, document, SessionReader.session(fields, now));
        }
        if (fields.json("checkpoint").field("iterations") != null) {
            return read(fields.json("checkpoint"), now); // The outcome of a run has the run's checkpoint inside.
        }
        if (fields.has("phase") || fields.has("llm_calls")) {
            return PhasesReader.record(document, now);
        }
        if (fields.has("run_id") && fields.has("final_text")) {
            return PhasesReader.result(document, now);
        }
        if (fields.has("transcript")) {
            return recovered(CheckpointFormat.VERSIONS, document, SessionReader.version(fields, now));
        }
        if (fields.has("threadId") && !fields.has("iterations")) {
            return recovered(CheckpointFormat.THREAD, document, ThreadReader.read(fields));
        }
        if (fields.has("messages") && fields.has("iterations")) {
            return recovered(CheckpointFormat.RUNNER, document, RunnerReader.read(fields, now));
        }
        throw CheckpointCorruption.at("", "not a known checkpoint format");
    }

    private static RestoredCheckpoint list(Json document, List<?> list, Instant now) {
        if (list.isEmpty()) {
            throw CheckpointCorruption.at("", "an empty list");
        }
        Map<?, ?> first = list.get(0) instanceof Map<?, ?> map ? map : Map.of();
        if (first.containsKey("role")) {
            return recovered(CheckpointFormat.MESSAGES, document, MessagesReader.read(list, now));
        }
        if (first.containsKey("transcript")) {
            return recovered(CheckpointFormat.VERSIONS, document, SessionReader.versions(list, now));
        }
        if (first.containsKey("phase")) {
            return PhasesReader.chain(document);
        }
        throw CheckpointCorruption.at("", "not a known checkpoint format");
    }

    private static RestoredCheckpoint recovered(CheckpointFormat format, Json document, Named named) {
        return new RestoredCheckpoint(format, document, named.conversation().restore(), named.thread());
    }

    /** A conversation, and the thread that the checkpoint names. */
    record Named(Restoration conversation, Optional<String> thread) {}
}
