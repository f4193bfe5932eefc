package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An approval runs the arguments that the approver saw or wrote, or is refused. It never ignores an edit. */
@Tag("full")
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
            ObjectNode part = response("tu_2", approval);
            part.set("input", PayloadJson.MAPPER.readTree(input.replace('\'', '"')));
            return answer(more, part);
        }

        /** Answers the question, and sends these parts after it. */
        HttpResponse<String> answer(String more, JsonNode... parts) throws Exception {
            ObjectNode message = (ObjectNode) message(
                    "assistant",
                    "wm-m2",
                    "[{'type':'dynamic-tool','toolCallId':'tu_1','state':'output-available','output':'Friday'}]");
            ((ArrayNode) message.path("parts")).addAll(List.of(parts));
            return send(id, message, more);
        }

        static ObjectNode response(String callId, JsonNode approval) {
            ObjectNode part = PayloadJson.MAPPER.createObjectNode();
            part.put("type", "dynamic-tool").put("toolCallId", callId).put("state", "approval-responded");
            part.set("approval", approval);
            return part;
        }

        ObjectNode approval(boolean approved) throws Exception {
            return PayloadJson.MAPPER.createObjectNode().put("id", approvalId()).put("approved", approved);
        }

        String approvalId() throws Exception {
            return "tu_2~" + pending().get(1).path("argsDigest").asText();
        }

        void assertUntouched() throws Exception {
            assertThat(pending()).hasSize(3);
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
                "\"{\\\"args\\\":{\\\"cents\\\":7}}\"",
                " \"\\\"{\\\\\\\"args\\\\\\\":{\\\\\\\"cents\\\\\\\":7}}\\\"\"",
                " \n{}"
            })
    void reasonThatLooksLikeAnEdit_isRefused(String reason) throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.approve(chat.approval(true).put("reason", reason), "{'cents':9900}", "")))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    /** These characters are invisible, and JSON does not allow most of them before a value. */
    @ParameterizedTest
    @ValueSource(
            ints = {' ', '\n', 0x0, 0x1F, 0x7F, 0x85, 0xA0, 0xAD, 0x200B, 0x202E, 0x2028, 0x2060, 0x3000, 0xFE0F, 0xFEFF
            })
    void invisibleCharactersBeforeAnEdit_doNotHideIt(int invisible) throws Exception {
        Chat chat = Chat.waiting();
        String reason = Character.toString(invisible) + "\t{\"args\":{\"cents\":7}}";

        String result = problem(chat.approve(chat.approval(true).put("reason", reason), "{'cents':9900}", ""));

        if (result.equals("200")) {
            assertThat(chat.charge().path("args").toString()).isEqualTo("{\"cents\":7}");
        } else {
            assertThat(result).isEqualTo("400 BadInput");
            chat.assertUntouched();
        }
    }

    @Test
    void deeplyNestedEdit_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        String reason = "{\"args\":{\"cents\":" + "[".repeat(900) + "]".repeat(900) + "}}";

        assertThat(problem(chat.approve(chat.approval(true).put("reason", reason), "{'cents':9900}", "")))
                .isEqualTo("400 BadInput");
    }

    @Test
    void reasonThatIsNotText_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true);
        approval.putObject("reason").putObject("args").put("cents", 7);

        assertThat(problem(chat.approve(approval, "{'cents':9900}", ""))).isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"args", "input", "edits", "Reason", "reason ", ""})
    void unknownFieldOfAnApproval_isRefused(String field) throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true);
        approval.putObject(field).put("cents", 7);

        assertThat(problem(chat.approve(approval, "{'cents':9900}", ""))).isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @Test
    void fieldsThatTheClientLibraryAdds_areAccepted() throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true)
                .put("isAutomatic", false)
                .put("requestReason", "dear")
                .put("signature", "s");
        approval.putObject("descriptor");
        approval.putObject("inputSchemaInput");

        assertThat(problem(chat.approve(approval, "{'cents':9900}", ""))).isEqualTo("200");
    }

    /** Settlements are never ignored. */
    @ParameterizedTest
    @ValueSource(
            strings = {"[]", "[{'outcome':'done'}]", "'tu_1'", "7", "true", "null", "{'tu_1':null}", "{'tu_1':[]}"})
    void settlementsThatAreNotAnObject_areRefused(String settlements) throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.answer(",'settlements':" + settlements))).isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @Test
    void changedInput_isRefusedInsteadOfTakenAsEdit() throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.approve(chat.approval(true), "{'cents':7}", "")))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    /** The body is not part of the decision, so a client that repeats the request would lose such edits. */
    @ParameterizedTest
    @ValueSource(strings = {"{'tu_2':{'cents':7}}", "{}", "[{'cents':7}]", "'x'", "7", "true", "null"})
    void editsInTheBodyOfARequest_areRefused(String edits) throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.approve(chat.approval(true), "{'cents':9900}", ",'edits':" + edits)))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    /** Otherwise the approval would count once, although the page believes that later calls may run, too. */
    @Test
    void grantBesideAnApproval_isRefused() throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.approve(chat.approval(true), "{'cents':9900}", ",'grant':{'times':3}")))
                .isEqualTo("400 BadInput");
        assertThat(problem(resume(
                        chat,
                        "{'interruptId':'" + chat.approvalId()
                                + "','status':'resolved','payload':true,'grant':{'times':3}}")))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"true\"", "\"false\"", "1", "null", "{\"approved\":true}"})
    void approvedThatIsNotBoolean_isRefused(String approved) throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true);
        approval.set("approved", PayloadJson.MAPPER.readTree(approved));

        assertThat(problem(chat.approve(approval, "{'cents':9900}", ""))).isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @Test
    void responseWithoutApproved_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode approval = chat.approval(true);
        approval.remove("approved");

        assertThat(problem(chat.approve(approval, "{'cents':9900}", ""))).isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain edit", "edit plain", "plain denial", "denial plain", "plain plain"})
    void severalResponsesToOneApproval_areRefused(String order) throws Exception {
        Chat chat = Chat.waiting();
        Map<String, ObjectNode> approvals = Map.of(
                "plain", chat.approval(true),
                "edit", chat.approval(true).put("reason", "{\"args\":{\"cents\":7}}"),
                "denial", chat.approval(false));
        String[] names = order.split(" ");

        assertThat(problem(chat.answer(
                        "",
                        Chat.response("tu_2", approvals.get(names[0])),
                        Chat.response("tu_2", approvals.get(names[1])))))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tu_1", "tu_2"})
    void secondAnswerToACall_isRefused(String callId) throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode output = PayloadJson.MAPPER
                .createObjectNode()
                .put("type", "dynamic-tool")
                .put("toolCallId", callId)
                .put("state", "output-available")
                .put("output", "Monday");

        assertThat(problem(chat.answer("", Chat.response("tu_2", chat.approval(true)), output)))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tu_1", "tu_3", "", "tu_2 "})
    void approvalInThePartOfAnotherCall_isRefused(String shown) throws Exception {
        Chat chat = Chat.waiting();

        assertThat(problem(chat.answer("", Chat.response(shown, chat.approval(true)))))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @Test
    void approvalInAPartWithoutCall_isRefused() throws Exception {
        Chat chat = Chat.waiting();
        ObjectNode part = Chat.response("tu_2", chat.approval(true));
        part.remove("toolCallId");

        assertThat(problem(chat.answer("", part))).isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    @Test
    void severalSettlementsOfOneCall_areRefused() throws Exception {
        Chat chat = Chat.waiting();
        String other = "tu_1~" + "0".repeat(64);

        assertThat(problem(chat.answer(",'settlements':{'tu_1':{},'" + other + "':{}}")))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
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
    void editOfACallApprovedBySomebodyElse_isRefused() throws Exception {
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
    void agUiPayloadThatLooksLikeAnEdit_isRefused(String payload) throws Exception {
        Chat chat = Chat.waiting();
        assertThat(problem(resume(
                        chat,
                        "{'interruptId':'" + chat.approvalId() + "','status':'resolved','payload':" + payload + "}")))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }

    private static HttpResponse<String> resume(Chat chat, String decisions) throws Exception {
        String run = "{'threadId':'" + chat.thread() + "','runId':'run-1','messages':[],'resume':["
                + "{'interruptId':'tu_1','status':'resolved','payload':'Friday'}," + decisions + "]}";
        return ann.http().send(ann.posting("/v1/agui/shopper", run).build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void severalAgUiAnswersToOneCall_areRefused() throws Exception {
        Chat chat = Chat.waiting();
        String approval = "{'interruptId':'" + chat.approvalId() + "','status':'resolved','payload':true}";

        assertThat(problem(resume(chat, approval + ",{'interruptId':'tu_2','status':'cancelled'}")))
                .isEqualTo("400 BadInput");

        chat.assertUntouched();
    }
}
