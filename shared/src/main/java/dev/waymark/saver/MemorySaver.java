package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/** Keeps checkpoints in memory: for tests, and for programs that run once. */
public final class MemorySaver implements CheckpointSaver {
    private final ConcurrentMap<String, String> documents = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, CheckpointOwner> owners = new ConcurrentHashMap<>();

    @Override
    public void save(Json checkpoint) {
        documents.put(CheckpointText.threadId(checkpoint), CheckpointText.write(checkpoint));
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        String threadId = CheckpointText.threadId(checkpoint);
        owners.compute(threadId, (id, stored) -> {
            CheckpointOwner next = owner.replacing(Optional.ofNullable(stored), threadId);
            save(checkpoint);
            return next;
        });
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        return Optional.ofNullable(owners.get(threadId));
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        owners.compute(threadId, (id, stored) -> {
            owner.checkSuccession(Optional.ofNullable(stored), threadId);
            return owner;
        });
    }

    @Override
    public Optional<Json> load(String threadId) {
        return Optional.ofNullable(documents.get(threadId))
                .map(text -> CheckpointText.read(text, threadId, "in memory"));
    }

    @Override
    public List<String> list() {
        return documents.keySet().stream().sorted().toList();
    }

    @Override
    public void delete(String threadId) {
        documents.remove(threadId);
        owners.remove(threadId);
    }

    @Override
    public boolean exists(String threadId) {
        return documents.containsKey(threadId);
    }
}
