package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.BOB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.server.http.HttpSettings;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.worker.server.DevServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The stream of a thread's events, over real HTTP. */
abstract class StreamCases {
    @TempDir
    private Path directory;

    private final PromptedModel model = new PromptedModel();
    private ServedThreads threads;
    private HttpCaller ann;

    /** A separate Temporal server for these cases. */
    abstract DevServer temporal() throws Exception;

    @BeforeEach
    void start() throws Exception {
        threads = ServedThreads.on(temporal(), directory, Map.of("prompted", model));
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterEach
    void stop() throws Exception {
        if (threads != null) {
            threads.close();
        }
    }

    @Test
    void stream_sendsAllEventsAndEndsWithItsThread() throws Exception {
        String thread = ann.post("/v1/threads", "{'agent':'assistant','message':'Hi','once':true}")
                .text("thread");
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            List<EventStreamReader.Event> all = events.toTheEnd();

            assertThat(names(all))
                    .startsWith("run-started")
                    .contains("user-spoke", "model-called", "model-replied", "checkpoint-saved")
                    .endsWith("closed");
            List<String> ids =
                    all.stream().flatMap(event -> event.id().stream()).toList();
            assertThat(ids).doesNotHaveDuplicates().hasSize(all.size() - 1);
            assertThat(all.get(0).data().path("agent").asText()).isEqualTo("assistant");
        }
    }

    @Test
    void reconnect_atAnyEventToAnyInstance_missesAndRepeatsNothing() throws Exception {
        String thread = ann.post("/v1/threads", "{'agent':'assistant','message':'Hi','once':true}")
                .text("thread");
        HttpCaller elsewhere = ann.at(threads.serve());
        List<EventStreamReader.Event> whole;
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            whole = events.toTheEnd();
        }
        for (int i = 0; i < whole.size() - 1; i++) {
            try (EventStreamReader rest =
                    EventStreamReader.open(elsewhere, thread, whole.get(i).id())) {
                assertThat(rest.toTheEnd()).isEqualTo(whole.subList(i + 1, whole.size()));
            }
        }
        for (String id : List.of("nonsense", "another-run/e5", "x/e999999~1.4")) {
            try (EventStreamReader rest = EventStreamReader.open(elsewhere, thread, Optional.of(id))) {
                List<EventStreamReader.Event> again = rest.toTheEnd();
                assertThat(again.get(0).name()).isEqualTo("restarted");
                assertThat(again.subList(1, again.size())).isEqualTo(whole);
            }
        }
    }

    @Test
    void words_clientReconnectsInMidReply_areSentOnce() throws Exception {
        String thread = ann.start("prompted", "Hi");
        String heard;
        Optional<String> last;
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            model.says("One ", "two ");
            List<EventStreamReader.Event> first = events.until(all -> words(all).equals("One two "));
            heard = words(first);
            last = first.get(first.size() - 1).id();
        }
        try (EventStreamReader events = EventStreamReader.open(ann.at(threads.serve()), thread, last)) {
            model.says("three.");
            List<EventStreamReader.Event> second =
                    events.until(all -> words(all).equals("three."));
            assertThat(names(second)).containsOnly("text-delta");
            heard += words(second);
            model.ends();
            List<EventStreamReader.Event> rest = events.until(
                    all -> names(all).contains("turn-ended") || names(all).contains("model-replied"));
            assertThat(words(rest)).isEmpty();
        }
        assertThat(heard).isEqualTo("One two three.");
    }

    @Test
    void reasoning_clientReconnectsInMidReply_isSentOnce() throws Exception {
        String thread = ann.start("prompted", "Hi");
        Optional<String> last;
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            model.thinks("Let me ");
            List<EventStreamReader.Event> first =
                    events.until(all -> words(all, "reasoning-delta").equals("Let me "));
            assertThat(words(first)).isEmpty();
            last = first.get(first.size() - 1).id();
        }
        try (EventStreamReader events = EventStreamReader.open(ann.at(threads.serve()), thread, last)) {
            model.thinks("see.");
            model.says("Hello.");
            List<EventStreamReader.Event> second =
                    events.until(all -> words(all).equals("Hello."));
            assertThat(words(second, "reasoning-delta")).isEqualTo("see.");
            last = second.get(second.size() - 1).id();
        }
        try (EventStreamReader events = EventStreamReader.open(ann, thread, last)) {
            model.ends();
            List<EventStreamReader.Event> rest = events.until(all -> names(all).contains("model-replied"));
            assertThat(names(rest)).doesNotContain("text-delta", "reasoning-delta");
        }
        assertThat(ann.list(thread, "messages").at("/1/content/0/text").asText())
                .isEqualTo("Let me see.");
    }

    @Test
    void wordsOfALostAttempt_areWithdrawn() throws Exception {
        String thread = ann.start("prompted", "Hi");
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            model.says("Wrong ");
            events.until(all -> words(all).equals("Wrong "));
            model.fails();
            model.says("Right.");
            List<EventStreamReader.Event> second =
                    events.until(all -> words(all).endsWith("Right."));
            assertThat(words(second)).isEqualTo("Right.");
            EventStreamReader.Event delta = second.get(second.size() - 1);
            assertThat(delta.data().path("attempt").intValue()).isEqualTo(2);
            assertThat(delta.data().path("from").intValue()).isZero();
            model.ends();
        }
    }

    @Test
    void stop_inMidReply_keepsPartialTextForPeopleOnly() throws Exception {
        String thread = ann.start("prompted", "Hi");
        String path = "/v1/threads/" + thread;
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            model.says("It rains in ");
            events.until(all -> words(all).equals("It rains in "));

            HttpCaller.Answer stopped = ann.post(path + "/stop", "{}", "k");
            assertThat(stopped.status()).isEqualTo(202);
            List<EventStreamReader.Event> rest = events.until(all -> names(all).contains("stopped"));
            assertThat(rest.get(rest.size() - 1).data().path("said").asText()).isEqualTo("It rains in ");
            assertThat(ann.post(path + "/stop", "{}", "k").body()).isEqualTo(stopped.body());
        }
        assertThat(ann.get(path).text("stoppedHere")).isEqualTo("It rains in ");
        assertThat(ann.get(path + "/conversation").text("stoppedHere")).isEqualTo("It rains in ");
        for (String format : CheckpointFormat.names()) {
            HttpCaller.Answer checkpoint = ann.get(path + "/checkpoint?format=" + format);
            assertThat(checkpoint.status()).isEqualTo(200);
            assertThat(checkpoint.body().toString()).doesNotContain("It rains");
        }
        ann.post(path + "/say", "{'message':'Go on'}");
        assertThat(ann.get(path).body().has("stoppedHere")).isFalse();
    }

    /** The heartbeat has up to 16 Ki characters, and the limit of a stop lies in the middle of one of them. */
    @Test
    void stop_longReply_keepsItsEndWithoutSplittingCharacters() throws Exception {
        String thread = ann.start("prompted", "Hi");
        String reply = "é".repeat(16_000) + "x";
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            model.says(reply);
            events.until(all -> words(all).equals(reply));

            assertThat(ann.post("/v1/threads/" + thread + "/stop", "{}").status())
                    .isEqualTo(202);
        }
        assertThat(ann.get("/v1/threads/" + thread).text("stoppedHere")).isEqualTo("é".repeat(8_191) + "x");
    }

    @Test
    void silentStream_hasHeartbeats_andEndsWithItsToken() throws Exception {
        ApiServer server = threads.serve(
                HttpSettings.at("127.0.0.1", 0).withLimits(100, 2, 10).withHeartbeat(Duration.ofMillis(200)));
        HttpCaller caller = ann.at(server);
        String thread = caller.start("asker", "Book");
        try (EventStreamReader events = EventStreamReader.open(caller, thread, Optional.empty());
                EventStreamReader other = EventStreamReader.open(caller, thread, Optional.empty())) {
            await().atMost(Duration.ofMinutes(1)).until(() -> events.comments() > 3);
            HttpCaller.Answer third = caller.get("/v1/threads/" + thread + "/events");
            assertThat(third.status() + " " + third.text("code")).isEqualTo("429 TooManyStreams");
            assertThat(caller.as(BOB).get("/v1/threads").status()).isEqualTo(200);
            java.nio.file.Files.writeString(threads.tokens(), "{\"tokens\":[]}");
            events.toTheEnd();
            other.toTheEnd();
        }
    }

    @Test
    void drainingInstance_endsItsStreams_andAnotherContinues() throws Exception {
        ApiServer first = threads.serve();
        HttpCaller caller = ann.at(first);
        String thread = caller.start("asker", "Book");
        try (EventStreamReader events = EventStreamReader.open(caller, thread, Optional.empty())) {
            List<EventStreamReader.Event> before =
                    events.until(all -> names(all).contains("model-replied"));
            first.drain(Duration.ofSeconds(10));
            before.addAll(events.toTheEnd());
            HttpCaller.Answer refused = caller.get("/v1/threads");
            assertThat(refused.status() + " " + refused.text("code")).isEqualTo("503 Draining");
            first.close();

            Optional<String> last = before.get(before.size() - 1).id();
            try (EventStreamReader rest = EventStreamReader.open(ann, thread, last)) {
                ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_1','answer':'Friday'}");
                List<EventStreamReader.Event> after =
                        rest.until(all -> names(all).contains("human-answered"));
                assertThat(names(after)).doesNotContain("run-started", "model-replied");
            }
        }
    }

    /** The body of a request that an instance accepted before it drained arrives afterwards. */
    @Test
    void newStream_onDrainingInstance_isRefusedLikeAnyRequest() throws Exception {
        ApiServer first = threads.serve();
        String body = "{\"threadId\":\"late\",\"runId\":\"r-1\",\"messages\":"
                + "[{\"id\":\"m-1\",\"role\":\"user\",\"content\":\"Hi\"}]}";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), first.port())) {
            OutputStream out = socket.getOutputStream();
            out.write(("POST /v1/agui/assistant HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + ANN
                            + "\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "
                            + body.length() + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            socket.setSoTimeout(20_000);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            // The interim response is sent when the body is read, after the request was accepted.
            assertThat(in.readLine()).startsWith("HTTP/1.1 100");
            assertThat(in.readLine()).isEmpty();
            CompletableFuture<Void> drained = CompletableFuture.runAsync(() -> first.drain(Duration.ofSeconds(10)));
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> ann.at(first).get("/v1/threads").status() == 503);
            out.write(body.getBytes(StandardCharsets.US_ASCII));

            assertThat(in.readLine()).startsWith("HTTP/1.1 503");
            assertThat(in.lines()).anyMatch(line -> line.contains("\"code\":\"Draining\""));
            drained.join();
        }
        first.close();
    }

    @Test
    void manyStreams_needFewThreads() throws Exception {
        String thread = ann.start("prompted", "Hi");
        List<EventStreamReader> open = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                open.add(EventStreamReader.open(ann, thread, Optional.empty()));
            }
            long serving = Thread.getAllStackTraces().keySet().stream()
                    .filter(one -> one.getName().startsWith("waymark-http")
                            || one.getName().startsWith("waymark-streams"))
                    .count();
            assertThat(serving).isLessThan(50);
            model.says("Hello ", "all.");
            for (EventStreamReader each : open) {
                each.until(all -> words(all).equals("Hello all."));
            }
            model.ends();
        } finally {
            open.forEach(EventStreamReader::close);
        }
    }

    @Test
    void streamOfAnotherCaller_isNotFound() throws Exception {
        String thread = ann.start("assistant", "Hi");
        HttpResponse<String> foreign = ann.http()
                .send(
                        ann.as(BOB).request("/v1/threads/" + thread + "/events").build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(foreign.statusCode()).isEqualTo(404);
    }

    private static List<String> names(List<EventStreamReader.Event> events) {
        return events.stream().map(EventStreamReader.Event::name).toList();
    }

    private static String words(List<EventStreamReader.Event> events) {
        return words(events, "text-delta");
    }

    private static String words(List<EventStreamReader.Event> events, String kind) {
        return events.stream()
                .filter(event -> event.name().equals(kind))
                .map(event -> event.data().path("text").asText())
                .collect(Collectors.joining());
    }
}
