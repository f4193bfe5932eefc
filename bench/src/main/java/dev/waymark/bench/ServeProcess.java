package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A running {@code ./waymark} command that prints a line of JSON when it is ready. */
final class ServeProcess implements AutoCloseable {
    private static final Pattern USED = Pattern.compile("used (\\d+)K");
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final String address;

    private ServeProcess(Process process, String address) {
        this.process = process;
        this.address = address;
    }

    /** Starts {@code ./waymark serve} with limits per caller that are too high for a benchmark to reach. */
    static ServeProcess serve(Path root, Path agents, String temporal) throws IOException {
        return start(
                root,
                Map.of("TEMPORAL_ADDRESS", temporal),
                "serve --no-auth --port 0 --rate 100000 --streams 1000 --json --agents " + agents);
    }

    static ServeProcess worker(Path root, Path agents, String temporal, String models) throws IOException {
        return start(
                root,
                Map.of("TEMPORAL_ADDRESS", temporal, "OPENAI_BASE_URL", models, "OPENAI_API_KEY", "none"),
                "worker --json --agents " + agents);
    }

    private static ServeProcess start(Path root, Map<String, String> environment, String command) throws IOException {
        List<String> words = new ArrayList<>(List.of("./waymark"));
        words.addAll(List.of(command.split(" ")));
        ProcessBuilder builder =
                new ProcessBuilder(words).directory(root.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        Process process = builder.start();
        BufferedReader lines = process.inputReader();
        JsonNode ready = new JsonMapper().readTree(String.valueOf(lines.readLine()));
        if (!ready.path("ready").asBoolean()) {
            process.destroyForcibly();
            throw new IOException("not ready: " + command);
        }
        return new ServeProcess(process, ready.path("address").asText());
    }

    String address() {
        return address;
    }

    /** Runs a full garbage collection, and returns the heap in use after it, in MiB. */
    double liveMebibytes() throws IOException, InterruptedException {
        jcmd("GC.run");
        Matcher used = USED.matcher(jcmd("GC.heap_info"));
        if (!used.find()) {
            throw new IOException("no heap of process " + process.pid());
        }
        return Long.parseLong(used.group(1)) / 1024.0;
    }

    private String jcmd(String command) throws IOException, InterruptedException {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Process asked = new ProcessBuilder(jcmd, Long.toString(process.pid()), command)
                .redirectErrorStream(true)
                .start();
        String answer = new String(asked.getInputStream().readAllBytes());
        asked.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return answer;
    }

    @Override
    public void close() {
        BenchWorkerProcess.kill(process);
    }
}
