package dev.waymark.worker.model.scripted;

import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The model {@code scripted:FILE}: the reply to a transcript with i assistant messages is entry i of the file, counted
 * from 0; the last entry repeats. In its texts and arguments, {@code {{ID}}} is replaced with the result of the call
 * with this id. The reply depends only on the transcript, so a retry gets the same one. Edits of the file take effect
 * with the next call. Uses no network.
 *
 * <pre>{@code
 * replies:
 *   - text: One thing first.
 *     tool_calls: [{ id: tu_7, name: ask_user, input: { question: "Which day?" } }]
 *     usage: { input_tokens: 41, output_tokens: 12 }
 *     delay: 200ms
 *   - text: Booked.
 *   - error: { type: NoCredit, message: "Your credit is used up.", retryable: false }
 * }</pre>
 *
 * An error adds no assistant message, so the next attempt gets the same entry: a retryable error fails every attempt.
 */
public final class ScriptedProvider implements ModelProvider {

    /** The name in {@code scripted:FILE}. */
    public static final String NAME = "scripted";

    private final Path directory;
    private final Map<Path, Loaded> loaded = new ConcurrentHashMap<>();

    private record Loaded(FileTime modified, long size, ModelScript script) {}

    /** @param agentsDirectory the base of relative script paths */
    public ScriptedProvider(Path agentsDirectory) {
        this.directory = agentsDirectory;
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        long assistantMessages = request.messages().stream()
                .filter(message -> message.role() == Role.ASSISTANT)
                .count();
        ModelScript.Line line = script(request.model()).line(assistantMessages);
        Optional<Reply> reply = line.reply().map(new ScriptQuotes(request.messages())::in);
        reply.ifPresent(said -> listener.usage(said.usage()));
        speak(reply, line.delay(), listener);
        if (line.error().isPresent()) {
            throw line.error().get().failure();
        }
        return reply.orElseThrow();
    }

    /** Streams the text word by word over the delay, like a real model. */
    private static void speak(Optional<Reply> reply, Duration delay, ReplyListener listener)
            throws InterruptedException {
        String text = reply.map(said -> said.message().text()).orElse("");
        String[] pieces = text.split("(?<=\\s)(?=\\S)");
        long millis = delay.toMillis();
        for (int i = 0; i < pieces.length; i++) {
            Thread.sleep(millis * (i + 1) / pieces.length - millis * i / pieces.length);
            listener.words(pieces[i]);
        }
    }

    /** Free by default; an agent file can set a price. */
    @Override
    public Optional<Pricing> pricing(String model) {
        return Optional.of(Pricing.FREE);
    }

    /** A digest of the script. */
    @Override
    public String version(String model) {
        try {
            return Sha256.hex(Files.readAllBytes(directory.resolve(model)));
        } catch (IOException e) {
            return ""; // The call itself reports the error.
        }
    }

    @Override
    public void check(String model) throws ModelFailure {
        script(model);
    }

    private ModelScript script(String name) throws ModelFailure {
        Path file = directory.resolve(name);
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            @Nullable Loaded known = loaded.get(file);
            if (known != null
                    && known.modified().equals(attributes.lastModifiedTime())
                    && known.size() == attributes.size()) {
                return known.script();
            }
            ModelScript script = ModelScript.read(file);
            loaded.put(file, new Loaded(attributes.lastModifiedTime(), attributes.size(), script));
            return script;
        } catch (IOException e) {
            throw ModelFailure.permanent(ProblemType.AGENT_INVALID, "no such script: " + file);
        } catch (YamlProblem e) {
            throw ModelFailure.permanent(ProblemType.AGENT_INVALID, String.valueOf(e.getMessage()));
        }
    }
}
