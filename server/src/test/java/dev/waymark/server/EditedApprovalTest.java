package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An approval runs what the approver saw or wrote, or it is refused: it never runs the call that was to be changed. */
class EditedApprovalTest {
    @TempDir
    private static Path directory;

    private static ServedThreads threads;
    private static HttpCaller ann;
    private static int chats;

    @BeforeAll
    static void start() throws Exception {
        threads = ServedThreads.inMemory(directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    /** A chat of the AI SDK that waits for an answer and two approvals. */
    private record Chat(String id, String thread) {
        static Chat waiting() throws Exception {
            String id = "chat-" + ++chats;
            HttpResponse<String> asked = send(id, message("user", "m-1", "[{'type':'text','text':'Pay'}]"), "");
            assertThat(asked.body()).contains("tool-approval-request");
            String thread = ann.get("/v1/ai-sdk/shopper/" + id).text("thread");
            return new Chat(id, thread);
        }

        private static JsonNode message(String role, String id, String parts) throws Exception {
            return PayloadJson.MAPPER.readTree(
                    ("{'id':'" + id + "','role':'" + role + "','parts':" + parts + "}").replace('\'', '"'));
        }

        private static HttpResponse<String> send(String chat, JsonNode message, String more) throws Exception {
            return ann.http()
                    .send(
                            ann.posting(
                                            "/v1/ai-sdk/shopper",
                                            "{\"id\":\"" + chat + "\",\"messages\":[" + quoted(message) + "]" + more
                                                    + "}")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
        }

        /** Approves the first charge, and answers the question. */
        HttpResponse<String> approve(JsonNode approval, String input, String more) throws Exception {
            ObjectNode message = (ObjectNode) message(
                    "assistant",
                    "wm-m2",
                    "[{'type':'dynamic-tool','toolCallId':'tu_1','state':'output-available','output':'Friday'},"
                            + "{'type':'dynamic-tool','toolCallId':'tu_2','state':'approval-responded','input':" + input
                            + "}]");
            ((ObjectNode) message.at("/parts/1")).set("approval", approval);
            return send(id, message, more);
        }

        ObjectNode approval(boolean approved) throws Exception {
            return PayloadJson.MAPPER.createObjectNode().put("id", approvalId()).put("approved", approved);
        }

        String approvalId() throws Exception {
            return "tu_2~" + pending().get(1).path("argsDigest").asText();
        }

        JsonNode pending() throws Exception {
            return ann.list(thread, "pending");
        }

        JsonNode charge() throws Exception {
            for (JsonNode call : ann.list(thread, "calls")) {
                if (call.path("callId").asText().equals("tu_2")) {
                    return call;
                }
            }
            throw new AssertionError("no charge");
        }
    }

    /** Apostrophes become quotation marks when the caller posts a body. */
    private static String quoted(JsonNode json) {
        assertThat(json.toString()).doesNotContain("'");
        return json.toString();
    }

    private static String problem(HttpResponse<String> response) throws Exception {
        if (response.statusCode() == 200) {
            return "200";
        }
        return response.statusCode() + " "
                + PayloadJson.MAPPER.readTree(response.body()).path("code").asText();
    }

    @Test
    void edit_runsInsteadOfTheCallThatWasShown() throws Exception {
        Chat chat = Chat.waiting();
        String reason = "{\"args\":{\"cents\":7},\"reason\":\"Too dear\"}";

        HttpResponse<String> run = chat.approve(chat.approval(true).put("reason", reason), "{'cents':9900}", "");

        assertThat(run.statusCode()).isEqualTo(200);
        assertThat(chat.charge().path("args").toString()).isEqualTo("{\"cents\":7}");
        assertThat(chat.charge().path("approval").toString())
                .contains("Too dear")
                .doesNotContain("args");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"args\":{\"cents\":7}",
                "{\"args\":{\"cents\":7}} and more",
                "{\"args\":{\"cents\":7},\"args\":{\"cents\":8}}",
                "{\"args\":{\"cents\":7},\"note\":\"half\"}",
                "{\"args\":{\"cents\":7},\"reason\":7}",
                "{\"edited\":true}",
                "{\"args\":null}",
                "{\"args\":[7]}",
                "{\"args\":{\"cents\":\"seven\"}}",
                " \n{}"
            })
    void reasonThatAnnouncesAnEditAndHasNone_isRefused(String reason) throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.approve(chat.approval(true).put("reason", reason), "{'cents':9900}", "")))
                .isEqualTo("400 BadInput");

        assertThat(chat.pending()).hasSize(3);
    }

    @Test
    void editThatIsNestedTooDeeply_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        String reason = "{\"args\":{\"cents\":" + "[".repeat(900) + "]".repeat(900) + "}}";

        assertThat(problem(chat.approve(chat.approval(true).put("reason", reason), "{'cents':9900}", "")))
                .isEqualTo("400 BadInput");
    }

    @Test
    void reasonThatIsNoText_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true);
        approval.putObject("reason").putObject("args").put("cents", 7);

        assertThat(problem(chat.approve(approval, "{'cents':9900}", ""))).isEqualTo("400 BadInput");

        assertThat(chat.pending()).hasSize(3);
    }

    @Test
    void changedInput_isNoEdit_andIsRefused() throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.approve(chat.approval(true), "{'cents':7}", "")))
                .isEqualTo("400 BadInput");

        assertThat(chat.pending()).hasSize(3);
    }

    /** The body of one request does not stay with the decision, so that a client loses such edits. */
    @Test
    void editInTheBodyOfARequest_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        String edits = ",'edits':{'" + chat.approvalId() + "':{'cents':7}}";

        assertThat(problem(chat.approve(chat.approval(true), "{'cents':9900}", edits)))
                .isEqualTo("400 BadInput");

        assertThat(chat.pending()).hasSize(3);
    }

    @Test
    void deniedEdit_isDenied() throws Exception {
        Chat chat = Chat.waiting();
        String reason = "{\"args\":{\"cents\":7},\"reason\":\"Not today\"}";

        chat.approve(chat.approval(false).put("reason", reason), "{'cents':9900}", "");

        assertThat(chat.charge().path("status").asText()).isEqualTo("denied");
        assertThat(chat.charge().path("args").toString()).isEqualTo("{\"cents\":9900}");
        assertThat(chat.charge().path("approval").toString())
                .contains("Not today")
                .doesNotContain("args");
    }

    @Test
    void editOfACallThatSomebodyElseHasApproved_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true);
        String digest = approval.path("id").asText().substring("tu_2~".length());
        assertThat(ann.post(
                                "/v1/threads/" + chat.thread() + "/approve",
                                "{'callId':'tu_2','argsDigest':'" + digest + "'}")
                        .status())
                .isEqualTo(202);

        assertThat(problem(chat.approve(approval.put("reason", "{\"args\":{\"cents\":7}}"), "{'cents':9900}", "")))
                .isEqualTo("409 AlreadyDecided");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'approved':true,'args':null}",
                "{'approved':true,'args':[7]}",
                "{'approved':true,'edited':true}",
                "{'approved':true,'editedArgs':{'cents':7}}",
                "{'approved':true,'reason':{'args':{'cents':7}}}",
                "{'approved':'true','args':{'cents':7}}"
            })
    void payloadOfAgUiThatAnnouncesAnEditAndHasNone_isRefused(String payload) throws Exception {
        Chat chat = Chat.waiting();
        String run = "{'threadId':'" + chat.thread() + "','runId':'run-1','messages':[],'resume':["
                + "{'interruptId':'tu_1','status':'resolved','payload':'Friday'},"
                + "{'interruptId':'" + chat.approvalId() + "','status':'resolved','payload':" + payload + "}]}";

        HttpResponse<String> response =
                ann.http().send(ann.posting("/v1/agui/shopper", run).build(), HttpResponse.BodyHandlers.ofString());

        assertThat(problem(response)).isEqualTo("400 BadInput");
        assertThat(chat.pending()).hasSize(3);
    }
}
