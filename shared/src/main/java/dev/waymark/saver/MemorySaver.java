package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Keeps checkpoints as long as the process lives: for tests, and for programs that run once. */
public final class MemorySaver implements CheckpointSaver {
    private final ConcurrentMap<String, String> documents = new ConcurrentHashMap<>();

    @Override
    public void save(Json checkpoint) {
        documents.put(CheckpointText.threadId(checkpoint), CheckpointText.write(checkpoint));
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
    }

    @Override
    public boolean exists(String threadId) {
        return documents.containsKey(threadId);
    }
}
