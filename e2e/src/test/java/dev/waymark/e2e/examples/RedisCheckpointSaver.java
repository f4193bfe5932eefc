package dev.waymark.e2e.examples;

import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.CheckpointText;
import java.util.List;
import java.util.Optional;

/** Stores the checkpoint of each thread as one JSON document that other programs can read. */
final class RedisCheckpointSaver implements CheckpointSaver {
    private static final String PREFIX = "checkpoint:";

    private final RedisClient redis;

    RedisCheckpointSaver(RedisClient redis) {
        this.redis = redis;
    }

    @Override
    public void save(Json checkpoint) {
        String threadId = CheckpointText.threadId(checkpoint);
        load(threadId); // Throws if the stored document is corrupt: it is never overwritten.
        redis.set(PREFIX + threadId, CheckpointText.write(checkpoint));
    }

    @Override
    public Optional<Json> load(String threadId) {
        String key = PREFIX + threadId;
        return redis.get(key).map(text -> CheckpointText.read(text, threadId, key));
    }

    @Override
    public List<String> list() {
        return redis.keys(PREFIX).stream()
                .map(key -> key.substring(PREFIX.length()))
                .sorted()
                .toList();
    }

    @Override
    public void delete(String threadId) {
        redis.del(PREFIX + threadId);
    }

    @Override
    public boolean exists(String threadId) {
        return redis.exists(PREFIX + threadId);
    }
}
