package dev.waymark.worker.model.http;

import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.secret.StreamMask;

/**
 * Passes on the text of a reply as it arrives, without the service's key, even if the key is split between two events.
 * Not thread-safe.
 */
public final class MaskedListener implements ReplyListener {
    private final ReplyListener listener;
    private final StreamMask mask;

    public MaskedListener(ProviderService service, ReplyListener listener) {
        this.listener = listener;
        this.mask = service.keyMask();
    }

    @Override
    public void words(String piece) {
        pass(mask.next(piece));
    }

    /** Called at the end of the reply. Passes on the text that was held back. */
    public void end() {
        pass(mask.end());
    }

    private void pass(String words) {
        if (!words.isEmpty()) {
            listener.words(words);
        }
    }

    @Override
    public void progress() {
        listener.progress();
    }

    @Override
    public void usage(Usage soFar) {
        listener.usage(soFar);
    }
}
