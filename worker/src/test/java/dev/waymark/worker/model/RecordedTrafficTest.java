package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.http.CallArguments;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Streams that the services really sent, replayed byte for byte. {@code not-read.txt} lists what replies leave out. */
class RecordedTrafficTest {
    private static final Path RECORDINGS = Path.of("src/test/resources/recordings");
    private static final Set<String> READ_DELTAS =
            Set.of("text_delta", "input_json_delta", "thinking_delta", "signature_delta");
    private static final Set<String> READ_ITEMS = Set.of("message", "function_call", "reasoning");

    private static final Set<String> LAST =
            Set.of("message_stop", "response.completed", "response.failed", "response.incomplete");

    private static final Map<String, ModelServer> SERVERS = new LinkedHashMap<>();

    @BeforeAll
    static void start() {
        SERVERS.put("anthropic", new AnthropicServer());
        SERVERS.put("openai-responses", new ResponsesServer());
        SERVERS.put("openai-chat", new OpenAiServer());
    }

    @AfterAll
    static void stop() {
        SERVERS.values().forEach(ModelServer::close);
    }

    static List<Path> recordings() throws IOException {
        try (Stream<Path> files = Files.walk(RECORDINGS, 2)) {
            return files.filter(file -> file.getNameCount() == RECORDINGS.getNameCount() + 2)
                    .sorted()
                    .toList();
        }
    }

    private static String api(Path recording) {
        return recording.getParent().getFileName().toString();
    }

    /** The events of the first stream: some recordings have the streams of several steps. */
    private static List<JsonNode> events(Path recording) throws IOException {
        List<JsonNode> events = new ArrayList<>();
        for (String line : Files.readAllLines(recording)) {
            JsonNode event = ProviderJson.MAPPER.readTree(line);
            events.add(event);
            if (LAST.contains(event.path("type").asText())) {
                break;
            }
        }
        return events;
    }

    private static Reply replay(Path recording) throws Exception {
        ModelServer server = SERVERS.get(api(recording));
        List<String> lines = new ArrayList<>(Files.readAllLines(recording));
        lines.removeIf(String::isBlank);
        if (api(recording).equals("openai-chat")) {
            lines.add("[DONE]");
        }
        server.answers(ModelAnswer.events(lines.toArray(String[]::new)));
        ModelProvider provider = switch (api(recording)) {
            case "anthropic" -> AnthropicProvider.of(server.environment());
            case "openai-responses" -> ResponsesProvider.of(server.environment());
            default -> OpenAiProvider.of(server.environment());
        };
        return provider.reply(new ModelRequest("m-1", Optional.empty(), List.of(Message.user("Hi")), List.of(), 100));
    }

    /** The content of the events, put together as the service documents it: text, and the calls of our own tools. */
    private record Said(String text, List<String> calls) {
        static Said of(Reply reply) {
            StringBuilder text = new StringBuilder();
            List<String> calls = new ArrayList<>();
            for (Part part : reply.content()) {
                if (part instanceof Part.Text words) {
                    text.append(words.text());
                } else if (part instanceof Part.ToolUse use) {
                    calls.add(use.id() + " " + use.name() + " " + use.input().canonical());
                }
            }
            return new Said(text.toString(), calls);
        }

        static Said inMessages(List<JsonNode> events) {
            StringBuilder text = new StringBuilder();
            Map<Integer, StringBuilder> arguments = new TreeMap<>();
            Map<Integer, JsonNode> calls = new TreeMap<>();
            for (JsonNode event : events) {
                int index = event.path("index").asInt();
                JsonNode block = event.path("content_block");
                if (block.path("type").asText().equals("text")) {
                    text.append(block.path("text").asText());
                } else if (block.path("type").asText().equals("tool_use")) {
                    calls.put(index, block);
                    arguments.put(index, new StringBuilder());
                }
                text.append(event.at("/delta/text").asText(""));
                if (calls.containsKey(index)) {
                    arguments.get(index).append(event.at("/delta/partial_json").asText(""));
                }
            }
            List<String> all = new ArrayList<>();
            calls.forEach((index, block) -> {
                String json = arguments.get(index).toString();
                String whole = json.isEmpty() ? block.path("input").toString() : json;
                all.add(block.path("id").asText() + " " + block.path("name").asText() + " "
                        + CallArguments.read(whole).canonical());
            });
            return new Said(text.toString(), all);
        }

        static Said inResponses(List<JsonNode> events) {
            StringBuilder text = new StringBuilder();
            List<String> calls = new ArrayList<>();
            for (JsonNode event : events) {
                if (event.path("type").asText().equals("response.output_item.done")) {
                    JsonNode item = event.path("item");
                    item.path("content")
                            .forEach(part -> text.append(part.path("text").asText("")));
                    if (item.path("type").asText().equals("function_call")) {
                        calls.add(item.path("call_id").asText() + " "
                                + item.path("name").asText() + " "
                                + CallArguments.read(item.path("arguments").asText())
                                        .canonical());
                    }
                }
            }
            return new Said(text.toString(), calls);
        }

        static Said inChunks(List<JsonNode> events) {
            StringBuilder text = new StringBuilder();
            events.forEach(
                    event -> text.append(event.at("/choices/0/delta/content").asText("")));
            return new Said(text.toString(), List.of());
        }
    }

    private static Said said(Path recording) throws IOException {
        return switch (api(recording)) {
            case "anthropic" -> Said.inMessages(events(recording));
            case "openai-responses" -> Said.inResponses(events(recording));
            default -> Said.inChunks(events(recording));
        };
    }

    @ParameterizedTest
    @MethodSource("recordings")
    void recording_isReadAsItsServiceDocumentsIt(Path recording) throws Exception {
        String whole = Files.readString(recording);
        try {
            Reply reply = replay(recording);

            assertThat(Said.of(reply)).as(recording.toString()).isEqualTo(said(recording));
        } catch (ModelFailure failure) {
            assertThat(failure.type())
                    .as(recording + ": " + failure.getMessage())
                    .isIn("Refused", "NoCredit");
            assertThat(whole).containsAnyOf("\"stop_reason\":\"refusal\"", "\"type\":\"response.failed\"");
        }
    }

    private static Optional<String> unread(String api, JsonNode event) {
        String type = event.path("type").asText();
        String delta = event.at("/delta/type").asText("");
        String item = event.at("/item/type").asText("");
        if (api.equals("anthropic") && type.equals("content_block_delta") && !READ_DELTAS.contains(delta)) {
            return Optional.of(delta);
        }
        boolean isItem = api.equals("openai-responses") && type.equals("response.output_item.done");
        if (isItem && !READ_ITEMS.contains(item)) {
            return Optional.of(item);
        }
        return type.equals("response.output_text.annotation.added")
                ? Optional.of(event.at("/annotation/type").asText())
                : Optional.empty();
    }

    @Test
    void unreadContent_isListed() throws Exception {
        Set<String> unread = new TreeSet<>();
        for (Path recording : recordings()) {
            for (JsonNode event : events(recording)) {
                unread(api(recording), event).ifPresent(what -> unread.add(api(recording) + " " + what));
            }
        }

        assertThat(unread).containsExactlyElementsOf(Files.readAllLines(RECORDINGS.resolve("not-read.txt")));
    }
}
