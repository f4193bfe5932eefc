package dev.waymark.worker.model.http;

import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.secret.StreamMask;
import java.util.function.Consumer;

/**
 * Passes on the text and the reasoning of a reply as they arrive, without the service's key, even if the key is
 * split between two events. Not thread-safe.
 */
public final class MaskedListener implements ReplyListener {
    private final ReplyListener listener;
    private final StreamMask mask;
    private final StreamMask reasoningMask;
    private boolean hasReasoned;
    private boolean isNewPassage;

    public MaskedListener(ProviderService service, ReplyListener listener) {
        this.listener = listener;
        this.mask = service.keyMask();
        this.reasoningMask = service.keyMask();
    }

    @Override
    public void words(String piece) {
        pass(mask.next(piece), listener::words);
    }

    @Override
    public void reasoning(String piece) {
        if (piece.isEmpty()) {
            return;
        }
        String separator = isNewPassage && hasReasoned ? "\n\n" : "";
        hasReasoned = true;
        isNewPassage = false;
        pass(reasoningMask.next(separator + piece), listener::reasoning);
    }

    /** Separates the reasoning that follows from the reasoning before. */
    public void newPassage() {
        isNewPassage = true;
    }

    /** Called at the end of the reply. Passes on the text that was held back. */
    public void end() {
        pass(mask.end(), listener::words);
        pass(reasoningMask.end(), listener::reasoning);
    }

    private static void pass(String piece, Consumer<String> receiver) {
        if (!piece.isEmpty()) {
            receiver.accept(piece);
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
