package dev.waymark.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** Reads server-sent events as they arrive. */
final class EventStreamReader implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final InputStream body;
    private final BlockingQueue<Optional<Event>> events = new LinkedBlockingQueue<>();
    private final AtomicInteger comments = new AtomicInteger();

    private EventStreamReader(InputStream body) {
        this.body = body;
    }

    record Event(Optional<String> id, String name, JsonNode data) {}

    static EventStreamReader open(HttpCaller caller, String thread, Optional<String> lastId)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = caller.request("/v1/threads/" + thread + "/events");
        lastId.ifPresent(id -> request.header("Last-Event-ID", id));
        return open(caller, request);
    }

    static EventStreamReader open(HttpCaller caller, HttpRequest.Builder request)
            throws IOException, InterruptedException {
        HttpResponse<InputStream> response =
                caller.http().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        if (response.statusCode() != 200) {
            throw new AssertionError("no stream: " + response.statusCode());
        }
        EventStreamReader reader = new EventStreamReader(response.body());
        Thread thread1 = new Thread(reader::read, "event-reader");
        thread1.setDaemon(true);
        thread1.start();
        return reader;
    }

    private void read() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
            Optional<String> id = Optional.empty();
            String name = "message";
            String data = "";
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(":")) {
                    comments.incrementAndGet();
                } else if (line.startsWith("id: ")) {
                    id = Optional.of(line.substring(4));
                } else if (line.startsWith("event: ")) {
                    name = line.substring(7);
                } else if (line.startsWith("data: ")) {
                    data = line.substring(6);
                } else if (line.isEmpty() && !data.isEmpty()) {
                    events.add(Optional.of(new Event(id, name, PayloadJson.MAPPER.readTree(data))));
                    id = Optional.empty();
                    name = "message";
                    data = "";
                }
            }
        } catch (IOException e) {
            // The test or the server has closed the stream.
        } finally {
            events.add(Optional.empty());
        }
    }

    int comments() {
        return comments.get();
    }

    /** Reads events until all of them together match the condition. */
    List<Event> until(Predicate<List<Event>> wanted) throws InterruptedException {
        List<Event> all = new ArrayList<>();
        while (!wanted.test(all)) {
            all.add(next().orElseThrow(() -> new AssertionError("the stream ended with " + all)));
        }
        return all;
    }

    /** Returns all events that follow, up to the end of the stream. */
    List<Event> toTheEnd() throws InterruptedException {
        List<Event> all = new ArrayList<>();
        for (Optional<Event> event = next(); event.isPresent(); event = next()) {
            all.add(event.get());
        }
        return all;
    }

    private Optional<Event> next() throws InterruptedException {
        Optional<Event> event = any();
        event.ifPresent(each -> HttpCaller.checked("ThreadEvent", each.data()));
        return event;
    }

    /** Returns the next event of any protocol; empty at the end of the stream. */
    Optional<Event> any() throws InterruptedException {
        Optional<Event> event = events.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (event == null) {
            throw new AssertionError("nothing came");
        }
        return event;
    }

    @Override
    public void close() {
        try {
            body.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
