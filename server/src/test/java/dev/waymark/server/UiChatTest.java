package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs threads with the published {@code useChat} of the AI SDK, rendered by React on Node. */
@Tag("full")
class UiChatTest {
    @TempDir
    private static Path directory;

    private static final PromptedModel MODEL = new PromptedModel();
    /** For a single test, because a stopped call of another test may still take a word. */
    private static final PromptedModel THINKER = new PromptedModel();

    private static ServedThreads threads;
    private static ApiServer server;

    @BeforeAll
    static void start() throws Exception {
        NodeClients.install();
        threads = ServedThreads.inMemory(directory, Map.of("prompted", MODEL, "thinker", THINKER));
        server = threads.serve();
    }

    @AfterAll
    static void stop() throws Exception {
        if (threads != null) {
            threads.close();
        }
    }

    private static JsonNode play(String agent, String scene) throws Exception {
        return NodeClients.run("aisdk.mjs", server.address(), ANN, agent, scene);
    }

    /** Checks that a chat shows the same messages as after a reload. */
    private static void assertSame(JsonNode played) {
        assertThat(withoutIdsOfUsers(played.path("messages"))).isEqualTo(withoutIdsOfUsers(played.path("saved")));
    }

    private static String withoutIdsOfUsers(JsonNode messages) {
        StringBuilder text = new StringBuilder();
        for (JsonNode message : messages) {
            text.append(message.path("role").asText());
            if (!message.path("role").asText().equals("user")) {
                text.append(' ').append(message.path("id").asText());
            }
            for (JsonNode part : message.path("parts")) {
                text.append("\n  ").append(part.path("type").asText());
                for (String field : new String[] {"text", "toolCallId", "state", "input", "output", "errorText"}) {
                    if (part.has(field) && !(field.equals("state") && part.has("text"))) {
                        text.append(' ').append(part.path(field));
                    }
                }
            }
            text.append('\n');
        }
        return text.toString();
    }

    @Test
    void conversation_continuesInOneThread() throws Exception {
        JsonNode played = play("assistant", "talk");

        assertThat(played.path("messages")).hasSize(4);
        assertThat(played.at("/messages/3/parts").findValuesAsText("text")).containsExactly("Hello.");
        assertThat(played.path("thread").asText()).startsWith("t-");
        assertSame(played);
    }

    @Test
    void reasoning_isAPartOfTheMessage() throws Exception {
        THINKER.thinks("It is early.");
        THINKER.says("Good morning.");
        THINKER.ends();
        THINKER.says("Yes?");
        THINKER.ends();
        JsonNode played = play("thinker", "talk");

        assertThat(played.at("/messages/1/parts").findValuesAsText("type"))
                .containsExactly("step-start", "reasoning", "text");
        assertThat(played.at("/messages/1/parts").findValuesAsText("text"))
                .containsExactly("It is early.", "Good morning.");
        assertSame(played);
    }

    @Test
    void approval_isRequestedAndGiven() throws Exception {
        JsonNode played = play("billing", "approve");

        assertThat(played.at("/asked/state").asText()).isEqualTo("approval-requested");
        assertThat(played.at("/asked/input").toString()).isEqualTo("{\"cents\":8400}");
        assertThat(played.at("/messages/1/parts").findValuesAsText("output").toString())
                .contains("8400");
        assertThat(played.at("/messages/1/parts").findValuesAsText("text"))
                .containsExactly("Charging now.", "Charged.");
        assertSame(played);
    }

    @Test
    void editedApproval_runsWithTheEditedArguments() throws Exception {
        JsonNode played = play("billing", "edit");

        assertThat(played.at("/messages/1/parts").findValues("input").toString())
                .isEqualTo("[{\"cents\":4200}]");
        assertThat(played.at("/messages/1/parts").findValuesAsText("output").toString())
                .contains("4200");
        assertSame(played);
    }

    @Test
    void denial_isShownAsSuch() throws Exception {
        JsonNode played = play("billing", "deny");

        assertThat(played.at("/messages/1/parts").findValuesAsText("state")).contains("output-denied");
    }

    @Test
    void twoQuestions_areAnsweredTogether() throws Exception {
        JsonNode played = play("asker", "questions");

        assertThat(played.path("asked").findValuesAsText("state"))
                .containsExactly("input-available", "input-available");
        assertThat(played.at("/messages/1/parts").findValuesAsText("output")).containsExactly("Friday", "12A");
        assertThat(played.at("/messages/1/parts").findValuesAsText("text")).containsExactly("Booked.");
        assertSame(played);
    }

    /**
     * Plays a scene in which the model sends these words first. {@code rest} runs when the scene requests the rest of
     * the reply.
     */
    private static JsonNode play(String scene, String words, Runnable rest) throws Exception {
        return play(scene, words, server, Map.of("/", rest));
    }

    private static JsonNode play(String scene, String words, ApiServer instance, Map<String, Runnable> hooks)
            throws Exception {
        HttpServer asked = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        hooks.forEach((path, hook) -> asked.createContext(path, exchange -> {
            hook.run();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        }));
        asked.start();
        MODEL.says(words);
        try {
            String address = "http://127.0.0.1:" + asked.getAddress().getPort();
            return NodeClients.run("aisdk.mjs", instance.address(), ANN, "prompted", scene, address, server.address());
        } finally {
            asked.stop(0);
        }
    }

    @Test
    void killedInstance_isReplacedInTheMiddleOfAReply() throws Exception {
        ApiServer killed = threads.serve();

        JsonNode played = play("takeover", "One, ", killed, Map.of("/kill", killed::close, "/", UiChatTest::endReply));

        assertThat(played.path("failed").asText()).isEqualTo("error");
        assertThat(played.path("messages").findValuesAsText("text")).containsExactly("Count", "One, two.");
        assertSame(played);
    }

    private static void endReply() {
        MODEL.says("two.");
        MODEL.ends();
    }

    @Test
    void reloadInTheMiddleOfAReply_showsItOnce() throws Exception {
        JsonNode played = play("reload", "One, ", UiChatTest::endReply);

        assertThat(played.path("cut").asText()).isEqualTo("One, ");
        assertThat(played.path("messages").findValuesAsText("text")).containsExactly("Count", "One, two.");
        assertSame(played);
    }

    @Test
    void textOfALostAttempt_isMarkedAsDiscarded() throws Exception {
        JsonNode played = play("lost", "Lost words", () -> {
            MODEL.fails();
            MODEL.says("Kept words");
            MODEL.ends();
        });

        JsonNode parts = played.at("/messages/1/parts");
        assertThat(parts.findValuesAsText("text")).containsExactly("Lost words", "Kept words");
        assertThat(parts.at("/1/providerMetadata/waymark/discarded").asBoolean())
                .isTrue();
        assertThat(parts.at("/2/providerMetadata").isMissingNode()).isTrue();
        assertThat(played.path("saved").findValuesAsText("text")).containsExactly("Count", "Kept words");
    }

    @Test
    void reopenedChat_isUnchanged() throws Exception {
        JsonNode played = play("assistant", "reopen");

        assertThat(played.path("messages")).hasSize(2);
    }

    @Test
    void frontEndTool_runsInThePageAlsoAfterReload() throws Exception {
        JsonNode played = play("guide", "frontEnd");

        assertThat(played.path("ran").toString()).isEqualTo("[[\"pick_seat\",{\"row\":12}]]");
        assertThat(played.at("/asked/state").asText()).isEqualTo("input-available");
        assertThat(played.at("/asked/providerExecuted").booleanValue()).isFalse();
        assertThat(played.at("/messages/1/parts").findValuesAsText("text")).containsExactly("It is {\"seat\":\"12C\"}");
        assertThat(played.at("/saved/1/parts").findValuesAsText("text")).containsExactly("It is {\"seat\":\"12C\"}");
    }

    @Test
    void frontEndTool_thatFails_givesTheModelAnError() throws Exception {
        assertThat(play("guide", "frontEndFails").at("/saved/1/parts").findValuesAsText("text"))
                .containsExactly("It is The front end could not run it: no plan of this car");
    }

    @Test
    void files_reachTheModel_asTextOrImages() throws Exception {
        JsonNode played = play("assistant", "files");

        JsonNode told = HttpCaller.of(server, ANN).list(played.path("thread").asText(), "messages");
        String png = Base64.getEncoder().encodeToString("PNG".getBytes(StandardCharsets.UTF_8));
        String gif = Base64.getEncoder().encodeToString("GIF".getBytes(StandardCharsets.UTF_8));
        assertThat(told.at("/0/content/0/text").asText())
                .contains("Look", "<file name=\"a.csv\" type=\"text/csv\">\nx,y\n1,2\n</file>");
        assertThat(told.at("/0/content/1").toString())
                .isEqualTo("{\"type\":\"image_base64\",\"data\":\"" + png + "\",\"mimeType\":\"image/png\"}");
        assertThat(told.at("/2/content/1/data").asText()).isEqualTo(gif);
        assertThat(played.at("/saved/2/parts/1").toString())
                .isEqualTo("{\"type\":\"file\",\"mediaType\":\"image/gif\",\"url\":\"data:image/gif;base64," + gif
                        + "\"}");
        assertThat(played.path("refused"))
                .extracting(JsonNode::asText)
                .satisfiesExactly(
                        pdf -> assertThat(pdf).contains("application/pdf", "image/png"),
                        text -> assertThat(text).isEqualTo("accepted"),
                        address -> assertThat(address).contains("data: URL"),
                        broken -> assertThat(broken).contains("Base64"));
        String other = Base64.getEncoder().encodeToString("QNG".getBytes(StandardCharsets.UTF_8));
        assertThat(images(played, "fork")).containsExactly(png, gif);
        assertThat(images(played, "edited")).containsExactly(png, other);
        assertThat(images(played, "begun")).containsExactly(other);
    }

    private static List<String> images(JsonNode played, String fork) throws Exception {
        return HttpCaller.of(server, ANN)
                .list(played.path(fork).asText(), "messages")
                .findValuesAsText("data");
    }

    /** Each time, the chat continues in a fork, and its earlier thread stays unchanged. */
    @Test
    void regeneratedReplyAndEditedMessage_continueInForks() throws Exception {
        JsonNode played = play("assistant", "regenerate");

        assertThat(texts(played.at("/second/messages"))).isEqualTo("Hello|Hello.|And again|Hello.");
        assertSame(played.path("second"));
        assertThat(texts(played.at("/third/messages"))).isEqualTo("Hello|Hello.|Instead|Hello.");
        assertSame(played.path("third"));
        assertThat(texts(played.at("/fourth/messages"))).isEqualTo("Hello|Hello.|Instead|Hello.|Further|Hello.");
        assertSame(played.path("fourth"));
        assertThat(texts(played.at("/fifth/messages"))).isEqualTo("Hello|Hello.");
        assertSame(played.path("fifth"));
        assertThat(texts(played.path("last"))).isEqualTo("From the start|Hello.");
        HttpCaller ann = HttpCaller.of(server, ANN);
        String first = played.path("first").asText();
        String second = played.at("/second/threads/1").asText();
        assertThat(second).isNotEqualTo(first);
        assertThat(ann.get("/v1/threads/" + second)
                        .body()
                        .at("/forkedFrom/thread")
                        .asText())
                .isEqualTo(first);
        assertThat(ann.list(first, "messages")).hasSize(4);
    }

    private static String texts(JsonNode messages) {
        return String.join("|", messages.findValuesAsText("text"));
    }
}
