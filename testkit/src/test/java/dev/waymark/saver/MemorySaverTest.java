package dev.waymark.saver;

import dev.waymark.testkit.CheckpointSaverContract;

class MemorySaverTest extends CheckpointSaverContract {
    @Override
    protected CheckpointSaver open() {
        return new MemorySaver();
    }
}
