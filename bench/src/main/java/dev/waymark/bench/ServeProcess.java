package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A running {@code ./waymark} command that prints a line of JSON when it is ready. */
final class ServeProcess implements AutoCloseable {
    private static final Pattern USED = Pattern.compile("used (\\d+)K");
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final ChildProcess process;
    private final String address;

    private ServeProcess(ChildProcess process, String address) {
        this.process = process;
        this.address = address;
    }

    /** Starts {@code ./waymark serve} with limits per caller that no benchmark reaches. */
    static ServeProcess serve(WaymarkScript waymark, Path agents) throws IOException, InterruptedException {
        String command = "serve --no-auth --port 0 --rate 100000 --streams 1000 --json --agents " + agents;
        return start(waymark.command(command.split(" ")));
    }

    /** Starts {@code ./waymark worker}, whose models are at this URL. */
    static ServeProcess worker(WaymarkScript waymark, Path agents, String models, String... options)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("worker", "--json", "--agents", agents.toString()));
        words.addAll(List.of(options));
        return start(waymark.command(words.toArray(String[]::new))
                .environment(Map.of("OPENAI_BASE_URL", models, "OPENAI_API_KEY", "none")));
    }

    private static ServeProcess start(ChildProcess.Builder command) throws IOException, InterruptedException {
        ChildProcess process = command.showingErrors().start();
        try {
            JsonNode ready = new JsonMapper().readTree(process.firstLine(PATIENCE));
            if (!ready.path("ready").asBoolean()) {
                throw new IOException("not ready: " + process);
            }
            return new ServeProcess(process, ready.path("address").asText());
        } catch (IOException | InterruptedException e) {
            process.close();
            throw e;
        }
    }

    String address() {
        return address;
    }

    /** Runs a full garbage collection, and returns the heap in use after it, in MiB. */
    double liveMebibytes() throws IOException, InterruptedException {
        jcmd("GC.run");
        Matcher used = USED.matcher(jcmd("GC.heap_info"));
        if (!used.find()) {
            throw new IOException("no heap of process " + process.handle().pid());
        }
        return Long.parseLong(used.group(1)) / 1024.0;
    }

    private String jcmd(String command) throws IOException, InterruptedException {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        return ChildProcess.of(jcmd, Long.toString(process.handle().pid()), command)
                .run(PATIENCE)
                .out();
    }

    @Override
    public void close() {
        process.close();
    }
}
