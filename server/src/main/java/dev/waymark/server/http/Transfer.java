package dev.waymark.server.http;

import dev.waymark.conversation.value.ProblemType;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Receives the body of a request and sends its reply, within the limits of the server. Blocks no Java thread. */
final class Transfer {
    private static final HttpProblem TOO_BUSY = HttpProblem.of(
                    503, ProblemType.TOO_BUSY, "too many large requests at a time; nothing was done")
            .withRemedy("Send the request again later")
            .withHeader("Retry-After", "2");

    private final Connections connections;
    private final LargeBytes.Share share;
    private final Duration bodyTime;
    private final BodyReader body;
    private final Request request;
    private final Response response;
    private final Callback callback;
    private volatile boolean isReplying;

    Transfer(
            Connections connections,
            LargeBytes large,
            Duration bodyTime,
            Request request,
            Response response,
            Callback callback) {
        this.connections = connections;
        this.share = large.share(this::giveUp);
        this.bodyTime = bodyTime;
        this.body = new BodyReader(request, share);
        this.request = request;
        this.response = response;
        this.callback = callback;
        Request.addCompletionListener(request, failure -> release());
    }

    Request request() {
        return request;
    }

    Response response() {
        return response;
    }

    Callback callback() {
        return callback;
    }

    private void giveUp() {
        if (isReplying) {
            request.getConnectionMetaData().getConnection().getEndPoint().close();
        } else {
            body.fail(TOO_BUSY);
        }
    }

    /**
     * Completes with the body, in a Java thread of the server. Fails with an {@link HttpProblem} if it is too large, or
     * if all bodies together are too large, and with a {@code TimeoutException} if it is not received in time.
     */
    CompletableFuture<byte[]> receive(int most) {
        if (request.getLength() > most) {
            return CompletableFuture.failedFuture(BodyReader.tooLarge(most));
        }
        connections.enter(Connections.Phase.RECEIVING, request);
        return body.read(most, bodyTime)
                .whenCompleteAsync(
                        (bytes, failure) -> connections.enter(Connections.Phase.ANSWERING, request),
                        request.getComponents().getExecutor());
    }

    /**
     * Replies to a request whose body may be unread, which makes its connection unusable. A small body is therefore
     * read first. The rest of a larger one is discarded after the reply, and the connection is closed.
     */
    void refuse(HttpReply reply) {
        boolean isUnread = !body.isAtEnd()
                && (request.getLength() > 0 || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING));
        boolean isSmall = request.getLength() >= 0 && request.getLength() <= LargeBytes.SMALL_BYTES;
        if (!isUnread) {
            send(reply);
        } else if (isSmall && !body.isBegun()) {
            connections.enter(Connections.Phase.RECEIVING, request);
            body.drop().thenRun(() -> send(body.isAtEnd() ? reply : reply.withHeader("Connection", "close")));
        } else {
            release();
            send(
                    reply.withHeader("Connection", "close"),
                    Callback.from(() -> body.drop().thenRun(callback::succeeded), callback::failed));
        }
    }

    void send(HttpReply reply) {
        release();
        send(reply, callback);
    }

    /** Sends a reply whose bytes only this request holds in memory. */
    void sendLarge(HttpReply reply) {
        isReplying = true;
        share.hold(reply.body().length);
        send(reply, callback);
    }

    /** The bytes of the body or the reply are no longer in memory. */
    void release() {
        share.hold(0);
    }

    private void send(HttpReply reply, Callback sent) {
        connections.enter(Connections.Phase.REPLYING, request);
        response.setStatus(reply.status());
        if (!reply.contentType().isEmpty()) {
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, reply.contentType());
        }
        reply.headers().forEach(response.getHeaders()::put);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, reply.body().length);
        response.write(true, ByteBuffer.wrap(reply.body()), sent);
    }
}
