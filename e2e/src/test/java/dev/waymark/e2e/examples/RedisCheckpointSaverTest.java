package dev.waymark.e2e.examples;

import dev.waymark.saver.CheckpointSaver;
import dev.waymark.testkit.DurableSaverContract;

class RedisCheckpointSaverTest extends DurableSaverContract {
    private final RedisClient redis = new FakeRedis();

    @Override
    protected CheckpointSaver open() {
        return new RedisCheckpointSaver(redis);
    }

    @Override
    protected void replaceStored(String threadId, String text) {
        redis.set("checkpoint:" + threadId, text);
    }
}
