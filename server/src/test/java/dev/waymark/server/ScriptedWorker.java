package dev.waymark.server;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A worker in a separate JVM, with the models {@code scripted:FILE} and {@code paused:FILE}. */
final class ScriptedWorker {
    /** A file next to the directory of the agents, which lets paused models continue. */
    private static final String WORDS = "words";

    private ScriptedWorker() {}

    /** Starts a worker. Returns once the worker takes work. */
    static WorkerProcess start(String temporal, Path agents) throws IOException, InterruptedException {
        return WorkerProcess.start(ScriptedWorker.class, temporal, agents.toString());
    }

    /** Lets models continue that have paused in the middle of a reply. */
    static void endPause(Path agents) throws IOException {
        Files.createFile(agents.resolveSibling(WORDS));
    }

    public static void main(String[] arguments) throws Exception {
        Path agents = Path.of(arguments[1]);
        ModelProvider scripted = new ScriptedProvider(agents);
        ModelProviders providers = ModelProviders.of(Map.of(
                ScriptedProvider.NAME, scripted, "paused", new PausedModel(scripted, agents.resolveSibling(WORDS))));
        AgentWorker.builder(Connection.to(arguments[0]).client())
                .agents(AgentDirectory.load(agents, providers, JavaTools.NONE))
                .providers(providers)
                .build()
                .start();
        WorkerProcess.work();
    }

    /** Sends the first reply of a conversation up to its first comma, and the rest once the file exists. */
    private record PausedModel(ModelProvider script, Path file) implements ModelProvider {
        private static final long POLL_MILLIS = 50;

        @Override
        public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
            return reply(request, words -> {});
        }

        @Override
        public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
            if (request.messages().size() > 1) {
                return script.reply(request, listener);
            }
            Reply reply = script.reply(request);
            String text = new Message(Role.ASSISTANT, reply.content()).text();
            int pause = text.indexOf(',') + 1;
            listener.words(text.substring(0, pause));
            while (!Files.exists(file)) {
                Thread.sleep(POLL_MILLIS);
                listener.progress();
            }
            listener.words(text.substring(pause));
            return reply;
        }

        @Override
        public void check(String model) throws ModelFailure {
            script.check(model);
        }
    }
}
