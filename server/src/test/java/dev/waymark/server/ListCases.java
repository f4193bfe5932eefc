package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.CAROL;
import static dev.waymark.server.ServedThreads.DAVE;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.server.DevServer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The list of threads: its filters, and its stream. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ListCases {
    ServedThreads threads;
    HttpCaller ann;

    /** A separate Temporal server for these cases. */
    abstract DevServer temporal() throws Exception;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("chief.yaml"), "model: scripted:chief.script.yaml\nsubagents: [billing]\n");
        Files.writeString(agents.resolve("chief.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: billing, input: { task: "Charge" } }]
                  - text: Done.
                """);
        threads = ServedThreads.on(temporal(), directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterAll
    void stop() throws Exception {
        if (threads != null) {
            threads.close();
        }
    }

    private static List<String> ids(JsonNode rows) {
        return StreamSupport.stream(rows.spliterator(), false)
                .map(row -> row.path("thread").asText())
                .toList();
    }

    private List<String> listed(HttpCaller caller, String query) throws Exception {
        return ids(caller.get("/v1/threads?" + query).body().path("threads"));
    }

    /** Waits for the list, which may be a second behind on the real server. */
    private void awaitListed(HttpCaller caller, String query, String... threads) {
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(listed(caller, query)).containsExactlyInAnyOrder(threads));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Test
    void search_findsTitlesIdsAndAgents_inAnyCase() throws Exception {
        String invoice = ann.start("assistant", "Find invoice 4711-ÄB of Müller");
        String other = ann.start("assistant", "Find another one");

        awaitListed(ann, "search=" + encoded("INVOICE 4711-äb"), invoice);
        awaitListed(ann, "search=" + other.substring(3).toUpperCase(), other);
        assertThat(listed(ann, "search=" + encoded("of nobody"))).isEmpty();
        assertThat(listed(ann, "agent=billing&search=" + encoded("4711-ÄB"))).isEmpty();
        assertThat(listed(ann, "search=" + encoded("' OR 1=1 --"))).isEmpty();
        assertThat(ann.get("/v1/threads?search=" + "x".repeat(201)).text("code"))
                .isEqualTo("BadInput");
    }

    @Test
    void since_listsOpenAndClosedThreadsChangedSince() throws Exception {
        String closed = ann.post("/v1/threads", "{'agent':'assistant','message':'Closed early','once':true}")
                .text("thread");
        String old = ann.start("assistant", "An old one");
        String waiting = ann.start("billing", "A waiting one");
        ann.awaitPending(waiting, 1);
        awaitListed(ann, "search=one", old, waiting);
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads/" + closed).text("status").equals("complete"));
        Thread.sleep(1_100);
        Instant now = Instant.now();
        String recent = ann.start("assistant", "A recent one");
        ann.awaitPending(waiting, 1);
        String digest = ann.list(waiting, "pending").at("/0/argsDigest").asText();
        ann.post("/v1/threads/" + waiting + "/deny", "{'callId':'tu_1','argsDigest':'" + digest + "'}");

        awaitListed(ann, "search=one&since=" + now, recent, waiting);
        awaitListed(ann, "search=early&since=" + now.minusSeconds(3_600), closed);
        assertThat(listed(ann, "search=early&since=" + now)).isEmpty();
        for (String bad : List.of("yesterday", "2026-01-31", "")) {
            assertThat(ann.get("/v1/threads?since=" + bad).text("code")).as(bad).isEqualTo("BadInput");
        }
    }

    /** Carol and Dave are in the group support. Everybody may ask for anybody's threads, and gets those that they see. */
    @Test
    void owner_selectsAmongVisibleThreads() throws Exception {
        HttpCaller dave = ann.as(DAVE);
        String own = dave.start("assistant", "Dave owns it");
        String shared = dave.post("/v1/threads", "{'agent':'assistant','message':'Support owns it','group':'support'}")
                .text("thread");

        awaitListed(dave, "search=owns", own, shared);
        awaitListed(dave, "search=owns&owner=dave", own);
        awaitListed(ann.as(CAROL), "search=owns&group=support", shared);
        assertThat(listed(ann.as(CAROL), "search=owns&owner=dave")).isEmpty();
        awaitListed(ann.as(OPERATOR), "search=owns&owner=dave", own);
        assertThat(dave.get("/v1/threads?owner=dave&group=support").text("code"))
                .isEqualTo("BadInput");
    }

    @Test
    void stream_resendsTheListWhenItChanges() throws Exception {
        String path = "/v1/threads?limit=1&search=" + encoded("streamed words");
        String first = ann.start("billing", "The streamed words, and what waits");
        ann.awaitPending(first, 1);
        awaitListed(ann, "search=" + encoded("streamed words"), first);
        try (EventStreamReader stream =
                EventStreamReader.open(ann, ann.request(path).header("Accept", "text/event-stream"))) {
            JsonNode begin = list(stream);
            assertThat(ids(begin.path("threads"))).containsExactly(first);
            assertThat(ids(begin.path("waiting"))).containsExactly(first);
            String second = ann.start("assistant", "More streamed words");

            JsonNode then = begin;
            while (!ids(then.path("threads")).contains(second)) {
                then = list(stream);
            }
            // The page has one thread, but what waits is sent, too.
            assertThat(ids(then.path("threads"))).containsExactly(second);
            assertThat(ids(then.path("waiting"))).containsExactly(first);
            String digest = ann.list(first, "pending").at("/0/argsDigest").asText();
            ann.post("/v1/threads/" + first + "/deny", "{'callId':'tu_1','argsDigest':'" + digest + "'}");
            while (!ids(then.path("waiting")).isEmpty()) {
                then = list(stream);
            }
        }
    }

    /** A page has room for one thread only. The thread of the subagent waits for the same approval as its parent. */
    @Test
    void waiting_countsAllPagesLongestFirst_withoutSubagents() throws Exception {
        String path = "/v1/threads?limit=1&search=" + encoded("crowded words");
        String first = ann.start("billing", "The first of the crowded words");
        ann.awaitPending(first, 1);
        String second = ann.start("chief", "The second of the crowded words");
        ann.awaitPending(second, 1);
        String third = ann.start("billing", "The third of the crowded words");
        ann.awaitPending(third, 1);
        awaitListed(ann, "search=" + encoded("crowded words"), first, second, third);
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(listed(ann, "status=interrupted&search=" + second + "/"))
                        .hasSize(1));

        for (String query : List.of(path, "/v1/threads?limit=2&search=" + second)) {
            try (EventStreamReader stream =
                    EventStreamReader.open(ann, ann.request(query).header("Accept", "text/event-stream"))) {
                JsonNode list = list(stream);

                boolean isSecond = query.endsWith(second);
                assertThat(list.path("waitingCount").asInt()).as(query).isEqualTo(isSecond ? 1 : 3);
                assertThat(ids(list.path("waiting"))).as(query).containsExactly(isSecond ? second : first);
            }
        }
    }

    private static JsonNode list(EventStreamReader stream) throws Exception {
        EventStreamReader.Event event = stream.any().orElseThrow();
        assertThat(event.name()).isEqualTo("threads");
        return HttpCaller.checked("ThreadListEvent", event.data());
    }

    @Test
    void stream_ofABadQuery_isAProblem() throws Exception {
        HttpCaller.Answer answer = ann.send(ann.request("/v1/threads?status=x").header("Accept", "text/event-stream"));

        assertThat(answer.status() + " " + answer.text("code")).isEqualTo("400 BadInput");
    }
}
