package dev.waymark.saver;

import dev.waymark.testkit.CheckpointSaverContract;
import dev.waymark.testkit.SavedOwnersContract;

class MemorySaverTest extends CheckpointSaverContract implements SavedOwnersContract {
    @Override
    protected CheckpointSaver open() {
        return new MemorySaver();
    }

    @Override
    public CheckpointSaver saverWithOwners() {
        return open();
    }
}
