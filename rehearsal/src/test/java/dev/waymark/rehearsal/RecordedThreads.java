package dev.waymark.rehearsal;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.RecordedReply;
import dev.waymark.history.ThreadHistory;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.model.ModelPrompt;
import dev.waymark.worker.provider.ModelProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The recorded histories as threads, and a provider that answers as their models did. */
final class RecordedThreads implements ThreadSource {
    private static final Path HISTORIES = Path.of("../worker/src/test/resources/histories");

    private final Map<String, Path> files = new LinkedHashMap<>();
    private final Map<String, Reply> replies = new HashMap<>();
    int recorded;

    /**
     * All recorded histories, in groups within which no two models gave different replies to the same request.
     *
     * @param times how often each history occurs, as a thread of its own
     */
    static List<RecordedThreads> all(int times) throws IOException {
        List<RecordedThreads> groups = new ArrayList<>();
        try (Stream<Path> all = Files.walk(HISTORIES)) {
            for (Path file : all.filter(RecordedThreads::isHistory).sorted().toList()) {
                Map<String, Reply> learned = replies(history(file));
                RecordedThreads group = groups.stream()
                        .filter(each -> each.agreesWith(learned))
                        .findFirst()
                        .orElseGet(() -> {
                            groups.add(new RecordedThreads());
                            return groups.get(groups.size() - 1);
                        });
                group.replies.putAll(learned);
                group.recorded +=
                        times * RecordedReply.in(history(file).timeline()).size();
                for (int i = 0; i < times; i++) {
                    group.files.put(HISTORIES.relativize(file) + "#" + i, file);
                }
            }
        }
        return groups;
    }

    private static boolean isHistory(Path file) {
        return file.toString().endsWith(".json") && !file.toString().endsWith(".expected.json");
    }

    private boolean agreesWith(Map<String, Reply> learned) {
        return learned.entrySet().stream()
                .allMatch(each ->
                        content(each.getValue()).equals(content(replies.getOrDefault(each.getKey(), each.getValue()))));
    }

    private static String content(Reply reply) {
        return Message.assistant(reply.content().toArray(Part[]::new))
                .canonical()
                .replaceAll("\"id\": \"[^\"]*\"", "");
    }

    private static Map<String, Reply> replies(ThreadHistory history) {
        Map<String, Reply> replies = new LinkedHashMap<>();
        Timeline timeline = history.timeline();
        for (RecordedReply past : RecordedReply.in(timeline)) {
            ModelRequest request = past.summary()
                    ? ModelPrompt.summary(past.state(), timeline.agent().orElseThrow())
                    : ModelPrompt.request(past.state(), timeline.agent().orElseThrow());
            replies.put(key(request), past.reply());
        }
        return replies;
    }

    private static String key(ModelRequest request) {
        return Json.canonical(request.messages().stream().map(Message::tree).toList())
                + request.instructions().orElse("");
    }

    /** Answers as recorded, under any name of the provider. */
    ModelProviders asRecorded() {
        ModelProvider provider = new FreeModel(request -> {
            Reply reply = replies.get(key(request));
            if (reply == null) {
                throw ModelFailure.permanent("Unknown", "nothing was recorded for this request");
            }
            return new Reply(reply.content(), reply.usage(), reply.stop());
        });
        return of(provider);
    }

    /** The provider under every name that the recorded agents use. */
    ModelProviders of(ModelProvider provider) {
        Map<String, ModelProvider> named = new LinkedHashMap<>();
        files.values().stream()
                .distinct()
                .forEach(file -> history(file).timeline().agent().ifPresent(agent -> {
                    named.put(agent.model().substring(0, agent.model().indexOf(':')), provider);
                }));
        return ModelProviders.of(named);
    }

    private static ThreadHistory history(Path file) {
        try {
            return ThreadHistory.parse(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<String> names() {
        return List.copyOf(files.keySet());
    }

    @Override
    public Optional<ThreadHistory> read(String name) {
        return Optional.ofNullable(files.get(name)).map(RecordedThreads::history);
    }

    @Override
    public Optional<HistoryAudit.Live> live(String name) {
        throw new AssertionError("a rehearsal asks no running workflow");
    }
}
