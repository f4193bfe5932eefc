package dev.waymark.server.http;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Answers the requests of an {@link HttpListener} that is not the API of threads. */
public interface HttpService {
    /**
     * A request.
     *
     * @param path the path as sent, without the query
     * @param headers all values by header name, whose case does not matter
     * @param body empty until the whole body was received
     */
    record Received(String method, String path, Function<String, List<String>> headers, byte[] body) {
        /** The first value of a header. */
        public Optional<String> header(String name) {
            return headers.apply(name).stream().findFirst();
        }
    }

    /** Refuses a request by its head, before its body is read; empty to accept it. Must not block. */
    default Optional<HttpReply> refusal(Received head) {
        return Optional.empty();
    }

    /** The maximum size of the body of a request that was not refused, in bytes. Must not block. */
    default int maxBodyBytes(Received head) {
        return 0;
    }

    /** Answers a complete request. May block. */
    HttpReply answer(Received request);
}
