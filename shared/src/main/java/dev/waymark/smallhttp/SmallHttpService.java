package dev.waymark.smallhttp;

import java.util.Optional;

/** Answers the requests of a {@link SmallHttpServer}. */
public interface SmallHttpService {
    /**
     * Refuses a request by its head, before its body is read; empty to accept it. Runs in the Java thread that listens,
     * so it must not block.
     */
    default Optional<SmallHttpReply> refusal(SmallHttpRequest head) {
        return Optional.empty();
    }

    /** The maximum size of the body of a request that was not refused, in bytes. Must not block. */
    default int maxBodyBytes(SmallHttpRequest head) {
        return 0;
    }

    /** Answers a complete request. May block. */
    SmallHttpReply answer(SmallHttpRequest request);
}
