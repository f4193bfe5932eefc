package dev.waymark.client.saving;

import dev.waymark.checkpoint.SessionCheckpoint;
import dev.waymark.checkpoint.ThreadCheckpoint;
import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import java.util.List;
import java.util.Optional;

/** A checkpoint to be saved, which can be compared with the one that the saver has. */
public record CheckpointEntry(ThreadSnapshot snapshot, Json checkpoint) {
    public static CheckpointEntry of(ThreadSnapshot snapshot) {
        return new CheckpointEntry(snapshot, ThreadCheckpoint.of(snapshot.timeline()));
    }

    /** How the saver's checkpoint compares to this one. */
    enum Saved {
        /** The saver has an older one, or none. */
        OLDER,
        EQUAL,
        /** The saver has a later checkpoint of the same thread, or a more complete one of the same moment. */
        NEWER,
        /** The saver has one of another thread with the same name. */
        FOREIGN
    }

    public Saved compare(CheckpointSaver saver) {
        Optional<Json> saved = saver.load(snapshot.thread());
        if (saved.isEmpty()) {
            return Saved.OLDER;
        }
        if (saved.get().equals(checkpoint)) {
            return Saved.EQUAL;
        }
        if (!text(saved.get(), "createdAt").equals(text(checkpoint, "createdAt"))) {
            return Saved.FOREIGN;
        }
        int later = text(saved.get(), "updatedAt").compareTo(text(checkpoint, "updatedAt"));
        boolean richer = later == 0
                && (size(saved.get()) > size(checkpoint)
                        || (saved.get().field("interrupt") != null && checkpoint.field("interrupt") == null));
        return later > 0 || richer ? Saved.NEWER : Saved.OLDER;
    }

    public void write(CheckpointSaver saver) {
        saver.save(checkpoint, () -> SessionCheckpoint.of(snapshot.timeline()), snapshot.owner());
    }

    /** Writes the checkpoint of a moment between two versions, which adds no version to the session. */
    void writeBetweenVersions(CheckpointSaver saver) {
        saver.save(checkpoint, () -> SessionCheckpoint.logOf(snapshot.timeline()), snapshot.owner());
    }

    /** Replaces the checkpoint in the saver, even one of another thread. */
    public void replace(CheckpointSaver saver) {
        boolean ownsIt = saver.owner(snapshot.thread())
                .filter(owner -> owner.run().equals(snapshot.firstRunId()))
                .isPresent();
        if (!ownsIt) {
            saver.owner(snapshot.thread())
                    .ifPresent(owner -> saver.handOver(
                            snapshot.thread(),
                            owner.succeededBy(
                                    snapshot.firstRunId(), snapshot.owner().agent())));
        }
        write(saver);
    }

    /** Returns why this checkpoint must not be saved unless the caller insists. */
    public Optional<SaverException> objection(Saved saved) {
        return switch (saved) {
            case OLDER, EQUAL -> Optional.empty();
            case NEWER -> Optional.of(SaverException.poorer(snapshot.thread(), "is newer, or has more"));
            case FOREIGN ->
                Optional.of(SaverException.poorer(snapshot.thread(), "belongs to another thread with this name"));
        };
    }

    private static String text(Json document, String name) {
        return String.valueOf(document.field(name));
    }

    private static int size(Json document) {
        return document.field("messages") instanceof List<?> messages ? messages.size() : 0;
    }
}
