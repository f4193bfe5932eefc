package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The parts of messages of AG-UI and of the AI SDK. */
class FrontEndPartsTest {
    private static final String PIXEL = "iVBORw0KGgo=";
    private static final String TEXT = "aGk=";

    private static ServedThreads threads;
    private static HttpCaller ann;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(
                agents.resolve("keeper.yaml"), "model: scripted:keeper.script.yaml\ntools: [{ use: todos }]\n");
        Files.writeString(agents.resolve("keeper.script.yaml"), """
                replies:
                  - tool_calls:
                      - id: tu_1
                        name: write_todos
                        input: { todos: [{ id: "1", content: Look around, status: completed }] }
                  - text: Done.
                """);
        threads = ServedThreads.inMemory(directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    private static HttpResponse<String> agui(String agent, String thread, String messages) throws Exception {
        return ann.http()
                .send(
                        ann.posting(
                                        "/v1/agui/" + agent,
                                        "{'threadId':'" + thread + "','runId':'r','messages':[" + messages + "]}")
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    private static String said(String part) {
        return "{'id':'m-1','role':'user','content':[{'type':'text','text':'Look'}," + part + "]}";
    }

    @Test
    void agUiFiles_reachTheModelAndAreShownAfterReload() throws Exception {
        String data = "'source':{'type':'data','mimeType':'image/png','value':'" + PIXEL + "'}";
        String parts = String.join(
                ",",
                "{'type':'image'," + data + "}",
                "{'type':'image','source':{'type':'url','mimeType':'image/png','value':'https://example.com/a.png'}}",
                "{'type':'document','metadata':{'filename':'a.txt'},"
                        + "'source':{'type':'data','mimeType':'text/plain','value':'" + TEXT + "'}}",
                "{'type':'document','source':{'type':'url','value':'data:text/csv;base64," + TEXT + "'}}",
                "{'type':'binary','mimeType':'image/png','data':'" + PIXEL + "'}",
                "{'type':'binary','mimeType':'text/plain','filename':'b.txt','url':'data:text/plain;base64," + TEXT
                        + "'}");

        assertThat(agui("assistant", "files", said(parts)).body()).contains("\"Hello.\"");

        String reloaded = agui("assistant", "files", "").body();
        JsonNode snapshot = null;
        for (String line : reloaded.split("\n")) {
            if (line.contains("MESSAGES_SNAPSHOT")) {
                snapshot =
                        HttpCaller.checked("AgUiEvent", PayloadJson.MAPPER.readTree(line.substring("data: ".length())));
            }
        }
        assertThat(snapshot.at("/messages/0/content/0/text").asText())
                .isEqualTo("Look\n\n<file name=\"a.txt\" type=\"text/plain\">\nhi\n</file>\n\n"
                        + "<file type=\"text/csv\">\nhi\n</file>\n\n"
                        + "<file name=\"b.txt\" type=\"text/plain\">\nhi\n</file>");
        String image = "{\"type\":\"image\",\"source\":{\"type\":\"data\",\"value\":\"" + PIXEL
                + "\",\"mimeType\":\"image/png\"}}";
        assertThat(snapshot.at("/messages/0/content/1")).hasToString(image);
        assertThat(snapshot.at("/messages/0/content/2/source/value").asText()).isEqualTo("https://example.com/a.png");
        assertThat(snapshot.at("/messages/0/content/3")).hasToString(image);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{'type':'audio','source':{'type':'data','mimeType':'audio/wav','value':'QQ=='}} | type \\\"audio\\\"",
                "{'type':'document','source':{'type':'data','mimeType':'application/pdf','value':'QQ=='}}"
                        + " | application/pdf",
                "{'type':'image','source':{'type':'file','value':'file-1'}} | ids of files",
                "{'type':'binary','mimeType':'image/png','id':'file-1'} | ids of files",
                "{'type':'image','source':{'type':'url','value':'https://example.com/a.png'}} | has no mimeType"
            })
    void unsupportedParts_areNamedInTheRefusal(String part, String words) throws Exception {
        HttpResponse<String> answer = agui("assistant", "refused", said(part));

        assertThat(answer.statusCode() + answer.body()).startsWith("400").contains(words);
    }

    /** CopilotKit asks for the conversation of each chat that it shows. */
    @Test
    void newChat_ofAnExistingAgent_isAnEmptyRun() throws Exception {
        HttpResponse<String> empty = agui("assistant", "unbegun", "");

        assertThat(empty.statusCode()).isEqualTo(200);
        assertThat(empty.headers().firstValue("Content-Type")).contains("text/event-stream");
        String thread = empty.body().replaceAll("(?s).*\"thread\":\"([^\"]+)\".*", "$1");
        assertThat(empty.body().lines().filter(line -> !line.isEmpty()))
                .containsExactly(
                        "data: {\"type\":\"RUN_STARTED\",\"protocolVersion\":\"1.0\",\"metadata\":{\"waymark\":"
                                + "{\"thread\":\"" + thread + "\"}},\"threadId\":\"unbegun\",\"runId\":\"r\"}",
                        "data: {\"type\":\"RUN_FINISHED\",\"outcome\":{\"type\":\"success\"},"
                                + "\"threadId\":\"unbegun\",\"runId\":\"r\"}");
        assertThat(ann.get("/v1/threads/" + thread).status()).isEqualTo(404);
        assertThat(agui("assistant", "unbegun", said("{'type':'text','text':'!'}"))
                        .body())
                .contains("\"thread\":\"" + thread + "\"");
        assertThat(agui("nobody", "another", "").statusCode()).isEqualTo(404);
    }

    @Test
    void savedMessages_haveTheWorkspace_withTheNewestReply() throws Exception {
        String thread = ann.start("keeper", "Look around");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads/" + thread).text("status").equals("complete"));

        JsonNode messages = ann.get("/v1/ai-sdk/keeper/" + thread).body().path("messages");

        JsonNode last = messages.get(messages.size() - 1).path("parts");
        assertThat(last.get(last.size() - 1))
                .hasToString("{\"type\":\"data-workspace\",\"id\":\"workspace\",\"data\":{\"todos\":[{\"id\":\"1\","
                        + "\"content\":\"Look around\",\"status\":\"completed\"}],\"files\":{}}}");
    }
}
