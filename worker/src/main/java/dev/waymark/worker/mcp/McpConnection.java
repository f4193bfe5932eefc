package dev.waymark.worker.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.Fence;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A server with which everything has been agreed on. Safe for several threads. */
final class McpConnection implements AutoCloseable {
    /** From the next one on, a server may end a stream without an answer and want to be asked for the rest. */
    private static final String VERSION = "2025-06-18";

    private static final Set<String> SPOKEN = Set.of("2024-11-05", "2025-03-26", VERSION, "2025-11-25");

    static final int MOST_TOOLS = 200;
    private static final int MOST_PAGES = 200;

    /** What a server that did not answer in time gets to show that it is there at all. */
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(5);

    private final Channel channel;
    private volatile boolean doubtful;

    private McpConnection(Channel channel) {
        this.channel = channel;
    }

    /** Starts or finds the server, and shakes hands. */
    static McpConnection open(McpServer server, Map<String, String> environment, Path directory, Fence fence)
            throws NotReached, InterruptedException {
        List<String> texts = new ArrayList<>(server.env().values());
        texts.addAll(server.headers().values());
        Secrets secrets = Secrets.of(texts, environment);
        if (secrets.missing().isPresent()) {
            throw new NotReached("environment variable " + secrets.missing().get() + " is not set in the worker");
        }
        Channel channel = server.url().isPresent()
                ? HttpChannel.to(server, secrets)
                : StdioChannel.start(server, secrets, environment, directory);
        boolean agreed = false;
        try {
            agree(channel, fence);
            agreed = true;
            return new McpConnection(channel);
        } catch (Lost | ExecutionException | TimeoutException e) {
            throw new NotReached(e.getMessage() == null ? "it does not answer" : e.getMessage());
        } finally {
            if (!agreed) {
                channel.close();
            }
        }
    }

    private static void agree(Channel channel, Fence fence)
            throws NotReached, Lost, InterruptedException, ExecutionException, TimeoutException {
        ObjectNode hello = JsonRpc.object().put("protocolVersion", VERSION);
        hello.set("capabilities", JsonRpc.object());
        hello.set("clientInfo", JsonRpc.object().put("name", "waymark").put("version", "0"));
        Answer answer = channel.ask("initialize", hello, fence);
        if (answer instanceof Answer.Refusal refusal) {
            throw new NotReached(refusal.words());
        }
        String version =
                ((Answer.Result) answer).value().path("protocolVersion").asText();
        if (!SPOKEN.contains(version)) {
            throw new NotReached("it speaks version \"" + version + "\" of the protocol, which is not understood here");
        }
        channel.agreed(version);
        channel.tell("notifications/initialized", JsonRpc.object())
                .get(fence.left().toMillis(), TimeUnit.MILLISECONDS);
    }

    /** All of them, in the server's order. Of two with one name the first counts: it is the one that can be called. */
    List<RemoteTool> tools(Fence fence) throws NotReached, Lost, Unusable, InterruptedException {
        List<RemoteTool> tools = new ArrayList<>();
        ObjectNode page = JsonRpc.object();
        for (int pages = 0; pages < MOST_PAGES; pages++) {
            Answer answer = ask("tools/list", page, fence);
            if (answer instanceof Answer.Refusal refusal) {
                throw new NotReached("it does not list its tools: " + refusal.words());
            }
            JsonNode listed = ((Answer.Result) answer).value();
            for (JsonNode said : listed.path("tools")) {
                RemoteTool tool = RemoteTool.of(said);
                if (tools.stream().noneMatch(known -> known.name().equals(tool.name()))) {
                    tools.add(tool);
                }
            }
            if (tools.size() > MOST_TOOLS) {
                throw new Unusable("it has more than " + MOST_TOOLS + " tools");
            }
            String next = listed.path("nextCursor").asText("");
            if (next.isEmpty()) {
                return tools;
            }
            page.put("cursor", next);
        }
        throw new Unusable("its list of tools does not end");
    }

    Answer call(ObjectNode params, Fence fence) throws NotReached, Lost, InterruptedException {
        return ask("tools/call", params, fence);
    }

    private Answer ask(String method, ObjectNode params, Fence fence) throws NotReached, Lost, InterruptedException {
        try {
            return channel.ask(method, params, fence);
        } catch (Lost e) {
            doubtful |= e.isLate();
            throw e;
        }
    }

    /** Whether it can be used, which one that has just kept somebody waiting has to prove. */
    boolean isUsable() throws InterruptedException {
        if (!channel.isOpen()) {
            return false;
        }
        if (doubtful) {
            try {
                channel.ask("ping", JsonRpc.object(), Fence.in(SIGN_OF_LIFE));
                doubtful = false;
            } catch (NotReached | Lost e) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        channel.close();
    }
}
