package dev.waymark.client.save;

import dev.waymark.saver.SaverException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs what could not be saved. */
final class LoggedSaves implements SaveListener {
    private static final Logger LOG = LoggerFactory.getLogger(LoggedSaves.class);

    @Override
    public void failed(SaverException problem) {
        LOG.warn("the saver failed: {}", problem.getMessage());
    }

    @Override
    public void notSaved(String thread) {
        LOG.warn("the newest step of thread {} is not saved", thread);
    }
}
