package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import dev.waymark.contract.McpNames;
import dev.waymark.worker.outbound.HeaderSecret;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Starts or contacts a server and finds out its protocol. Servers that know stateless requests answer
 * {@code server/discover}. All other servers get the handshake, whether or not they answer.
 */
final class McpOpening {
    static final RpcRequest DISCOVER =
            RpcRequest.of(McpNames.DISCOVER, JsonRpc.object()).stateless();

    /**
     * The version to offer in a handshake. In later versions, a server may end a stream without an answer and expect
     * the client to resume it.
     */
    private static final String HANDSHAKE_VERSION = "2025-06-18";

    /** Time to answer {@code server/discover}. Some servers ignore requests before the handshake. */
    private static final Duration PROBE = Duration.ofSeconds(10);

    private final Start start;
    private final ProcessFence fence;
    private McpChannel channel;

    /** Whether the server has not reacted to {@code server/discover} yet. */
    private boolean isDiscoverUnanswered = true;

    /** Begins a channel to the server: a program is started each time. */
    private interface Start {
        McpChannel channel() throws RequestNotSentException;
    }

    private McpOpening(Start start, ProcessFence fence) throws RequestNotSentException {
        this.start = start;
        this.fence = fence;
        this.channel = start.channel();
    }

    /** @param known the era of the server's last connection; a handshake is then tried first */
    static McpConnection open(
            McpServer server,
            Map<String, String> environment,
            Path directory,
            ProcessFence fence,
            Optional<McpEra> known,
            Optional<HeaderSecret> token)
            throws RequestNotSentException, InterruptedException {
        Secrets secrets = Secrets.of(server.references(), environment);
        if (secrets.missing().isPresent()) {
            throw new RequestNotSentException(
                    "environment variable " + secrets.missing().get() + " is not set in the worker");
        }
        Start start = () -> server.url().isPresent()
                ? McpHttpChannel.to(server, secrets, token)
                : McpStdioChannel.start(server, secrets, environment, directory);
        McpOpening opening = new McpOpening(start, fence);
        boolean open = false;
        try {
            McpEra era = opening.era(known);
            open = true;
            return new McpConnection(opening.channel, era);
        } catch (OutcomeUnknownException | ExecutionException | TimeoutException e) {
            throw new RequestNotSentException(e.getMessage() == null ? "it does not answer" : e.getMessage());
        } finally {
            if (!open) {
                opening.channel.close();
            }
        }
    }

    private McpEra era(Optional<McpEra> known)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException, ExecutionException,
                    TimeoutException {
        if (known.filter(McpEra.HANDSHAKE::equals).isEmpty() && isStateless(PROBE)) {
            return McpEra.STATELESS;
        }
        Optional<String> refusal = shakeHands();
        if (refusal.isEmpty()) {
            return McpEra.HANDSHAKE;
        }
        // The server was not ready in time for the first request, or has been updated.
        if (isDiscoverUnanswered && isStateless(fence.left())) {
            return McpEra.STATELESS;
        }
        throw new RequestNotSentException(refusal.get());
    }

    private boolean isStateless(Duration limit) throws RequestNotSentException, InterruptedException {
        Discovery discovery;
        try {
            discovery = Discovery.of(channel.ask(DISCOVER, ProcessFence.in(fence.leftUpTo(limit))));
            isDiscoverUnanswered = false;
        } catch (OutcomeUnknownException e) {
            isDiscoverUnanswered = e.isLate();
            discovery = Discovery.NONE;
        } catch (RequestNotSentException e) {
            if (channel.isOpen()) {
                throw e;
            }
            discovery = Discovery.NONE;
        }
        if (!channel.isOpen()) { // Some servers end if the first request is not the handshake.
            channel.close();
            channel = start.channel();
        }
        if (discovery.isKnown()
                && !discovery.knows(McpNames.MODERN)
                && McpNames.HANDSHAKE.stream().noneMatch(discovery::knows)) {
            throw new RequestNotSentException(discovery.words());
        }
        return discovery.knows(McpNames.MODERN);
    }

    /** Performs the handshake. Returns the server's words if it refuses. */
    private Optional<String> shakeHands()
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException, ExecutionException,
                    TimeoutException {
        ObjectNode hello = JsonRpc.object().put("protocolVersion", HANDSHAKE_VERSION);
        hello.set("capabilities", JsonRpc.object());
        hello.set("clientInfo", JsonRpc.thisClient());
        RpcAnswer answer = channel.ask(RpcRequest.of(McpNames.INITIALIZE, hello), fence);
        if (answer instanceof RpcAnswer.Refusal refusal) {
            return Optional.of(refusal.words());
        }
        String version =
                ((RpcAnswer.Result) answer).value().path("protocolVersion").asText();
        if (!McpNames.HANDSHAKE.contains(version)) {
            throw new RequestNotSentException(
                    "it uses version \"" + version + "\" of the protocol, which is not supported");
        }
        channel.agreed(version);
        channel.tell("notifications/initialized", JsonRpc.object())
                .get(fence.left().toMillis(), TimeUnit.MILLISECONDS);
        return Optional.empty();
    }

    /**
     * A server's description of itself.
     *
     * @param versions the versions that it supports; empty if it names none
     * @param words why it can't be used
     */
    record Discovery(List<String> versions, String words) {
        static final Discovery NONE = new Discovery(List.of(), "");

        static Discovery of(RpcAnswer answer) {
            if (answer instanceof RpcAnswer.Result result) {
                List<String> versions = texts(result.value().path("supportedVersions"));
                return new Discovery(versions, notUnderstood(versions));
            }
            RpcAnswer.Refusal refusal = (RpcAnswer.Refusal) answer;
            if (!refusal.isOfStatelessServers()) {
                return NONE;
            }
            List<String> versions = texts(refusal.error().path("data").path("supported"));
            return refusal.code() == McpNames.UNSUPPORTED_VERSION && !versions.isEmpty()
                    ? new Discovery(versions, notUnderstood(versions))
                    : new Discovery(List.of("?"), refusal.words());
        }

        private static List<String> texts(JsonNode array) {
            List<String> texts = new ArrayList<>();
            array.forEach(text -> texts.add(text.asText()));
            return texts;
        }

        private static String notUnderstood(List<String> versions) {
            return "it supports versions " + String.join(", ", versions) + " of the protocol; this worker supports "
                    + String.join(
                            ", ",
                            Stream.concat(McpNames.HANDSHAKE.stream(), Stream.of(McpNames.MODERN))
                                    .sorted()
                                    .toList());
        }

        boolean isKnown() {
            return !versions.isEmpty();
        }

        boolean knows(String version) {
            return versions.contains(version);
        }
    }
}
