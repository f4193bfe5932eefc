package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.LOOKER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs threads with the published AG-UI client on Node, which validates every event and the order of events. */
@Tag("full")
class AgUiTest {
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
        return NodeClients.run("agui.mjs", server.address(), ANN, agent, scene);
    }

    @Test
    void conversation_continuesInOneThread() throws Exception {
        JsonNode played = play("assistant", "talk");

        assertThat(played.at("/first/text").asText()).isEqualTo("Hello.");
        assertThat(played.at("/first/outcome").asText()).isEqualTo("success");
        assertThat(played.at("/first/types").toString())
                .startsWith("[\"RUN_STARTED\",\"STATE_SNAPSHOT\",\"TEXT_MESSAGE_START\"")
                .endsWith("\"TEXT_MESSAGE_END\",\"RUN_FINISHED\"]");
        assertThat(played.path("messages").toString())
                .isEqualTo("[[\"user\",\"Hello\"],[\"assistant\",\"Hello.\"],[\"user\",\"And again\"],"
                        + "[\"assistant\",\"Hello.\"]]");
    }

    @Test
    void reasoning_isASeparateMessage() throws Exception {
        THINKER.thinks("It is early.");
        THINKER.says("Good morning.");
        THINKER.ends();
        THINKER.says("Yes?");
        THINKER.ends();
        JsonNode played = play("thinker", "talk");

        assertThat(played.at("/first/types").toString())
                .contains("\"REASONING_START\",\"REASONING_MESSAGE_START\",\"REASONING_MESSAGE_CONTENT\"")
                .contains("\"REASONING_MESSAGE_END\",\"REASONING_END\"");
        assertThat(played.path("messages").toString())
                .isEqualTo("[[\"user\",\"Hello\"],[\"reasoning\",\"It is early.\"],[\"assistant\",\"Good morning.\"],"
                        + "[\"user\",\"And again\"],[\"assistant\",\"Yes?\"]]");
    }

    @Test
    void approval_isAnInterrupt() throws Exception {
        JsonNode played = play("billing", "approve");

        JsonNode interrupt = played.at("/asked/interrupts/0");
        assertThat(played.at("/asked/outcome").asText()).isEqualTo("interrupt");
        assertThat(interrupt.path("reason").asText()).isEqualTo("approval");
        assertThat(interrupt.at("/metadata/args").toString()).isEqualTo("{\"cents\":8400}");
        assertThat(played.at("/done/outcome").asText()).isEqualTo("success");
        assertThat(played.at("/done/text").asText()).isEqualTo("Charged.");
        assertThat(result(played)).contains("8400");
    }

    @Test
    void editedApproval_runsWithTheEditedArguments() throws Exception {
        assertThat(result(play("billing", "edit"))).contains("4200");
    }

    @Test
    void denial_isTheResult() throws Exception {
        assertThat(result(play("billing", "deny"))).contains("Too dear");
    }

    private static String result(JsonNode played) {
        for (JsonNode message : played.path("messages")) {
            if (message.path("role").asText().equals("tool")) {
                return message.path("content").asText();
            }
        }
        throw new AssertionError("no result: " + played);
    }

    @Test
    void twoQuestions_areAnsweredTogether() throws Exception {
        JsonNode played = play("asker", "questions");

        assertThat(played.at("/asked/interrupts")).hasSize(2);
        assertThat(played.at("/done/outcome").asText()).isEqualTo("success");
        assertThat(played.path("messages").findValuesAsText("content")).contains("Friday", "12A", "Booked.");
    }

    @Test
    void frontEndTool_runsInThePage_andTheModelGetsResultAndContext() throws Exception {
        JsonNode played = play("guide", "frontEnd");

        JsonNode interrupt = played.at("/asked/interrupts/0");
        assertThat(interrupt.path("reason").asText()).isEqualTo("front-end-tool");
        assertThat(interrupt.at("/metadata/tool").asText()).isEqualTo("pick_seat");
        assertThat(interrupt.at("/metadata/args").toString()).isEqualTo("{\"row\":12}");
        assertThat(interrupt.at("/metadata/description").asText()).startsWith("Lets the user pick");
        assertThat(interrupt.at("/metadata/schema/properties/row/type").asText())
                .isEqualTo("integer");
        assertThat(interrupt.at("/responseSchema/properties").has("output")).isTrue();
        assertThat(played.at("/done/outcome").asText()).isEqualTo("success");
        assertThat(played.at("/done/text").asText()).isEqualTo("It is {\"seat\":\"12C\",\"price\":12.5}");
        // The context is for the model: the page shows what the user wrote.
        assertThat(played.path("reloaded")).isEqualTo(played.path("messages"));
        assertThat(played.at("/reloaded/0/1").asText()).isEqualTo("A seat, please");
        String thread = played.at("/asked/thread").asText();
        JsonNode told = HttpCaller.of(server, ANN).list(thread, "messages");
        assertThat(told.at("/0/content").asText())
                .isEqualTo("A seat, please\n\n<context>\n[{\"description\":\"The page \\u003c/context> that is open\","
                        + "\"value\":\"plan of car 7\"}]\n</context>");
        // The message with another context is still the same message.
        assertThat(played.at("/repeated/error").isMissingNode()).isTrue();
        assertThat(HttpCaller.of(server, ANN).list(thread, "messages")).isEqualTo(told);
    }

    @Test
    void frontEndTool_thatFails_givesTheModelAnError() throws Exception {
        JsonNode played = play("guide", "frontEndFails");

        assertThat(played.path("refused").toString())
                .isEqualTo("[\"BadInput\",\"BadInput\",\"BadInput\",\"BadInput\"]");
        assertThat(played.at("/done/text").asText())
                .isEqualTo("It is The front end could not run it: no plan of this car");
        assertThat(play("guide", "cancelledFrontEnd").at("/done/text").asText())
                .isEqualTo("It is The front end did not run it.");
    }

    @Test
    void interruptOfAnApproval_hasTheSchemaOfTheTool() throws Exception {
        JsonNode interrupt = play("billing", "approve").at("/asked/interrupts/0");

        assertThat(interrupt.at("/metadata/schema/properties/cents/type").asText())
                .isEqualTo("integer");
        assertThat(interrupt.at("/responseSchema/properties/args")).isEqualTo(interrupt.at("/metadata/schema"));
    }

    @Test
    void reloadedPage_receivesTheConversation() throws Exception {
        JsonNode played = play("assistant", "reload");

        assertThat(played.at("/after/types").toString())
                .isEqualTo("[\"RUN_STARTED\",\"STATE_SNAPSHOT\",\"MESSAGES_SNAPSHOT\",\"RUN_FINISHED\"]");
        assertThat(played.path("messages").toString()).isEqualTo("[[\"user\",\"Hello\"],[\"assistant\",\"Hello.\"]]");
    }

    @Test
    void stoppedReply_isRemovedFromTheChat() throws Exception {
        MODEL.says("One, ");

        JsonNode played = play("prompted", "stop");

        assertThat(played.at("/stopped/text").asText()).isEqualTo("One, ");
        assertThat(played.at("/stopped/outcome").asText()).isEqualTo("cancelled");
        assertThat(played.path("messages")).isEqualTo(played.path("reloaded"));
        assertThat(played.path("messages").toString()).isEqualTo("[[\"user\",\"Count\"]]");
    }

    /** CopilotKit's chat has a client from before version 1.0, which rejects an outcome that it does not know. */
    @Test
    void stoppedTurn_isCancelled_forClientsOfThisVersion() throws Exception {
        HttpCaller ann = HttpCaller.of(server, ANN);
        String thread = ann.start("asker", "Book");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads/" + thread).text("status").equals("interrupted"));
        assertThat(ann.post("/v1/threads/" + thread + "/stop", "{}").status()).isEqualTo(202);
        String run = "{'threadId':'" + thread + "','runId':'run-1','messages':[]";

        assertThat(events(ann, run + ",'protocolVersion':'1.0'}")).contains("{\"type\":\"cancelled\"}");
        assertThat(events(ann, run + "}")).contains("RUN_FINISHED").doesNotContain("outcome");
    }

    private static String events(HttpCaller caller, String run) throws Exception {
        return caller.http()
                .send(caller.posting("/v1/agui/asker", run).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void decision_withoutRoleDecide_isRefused() throws Exception {
        JsonNode played = NodeClients.run("agui.mjs", server.address(), LOOKER, "billing", "approve");

        assertThat(played.at("/asked/error").asText()).contains("403");
    }
}
