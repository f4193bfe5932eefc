package dev.waymark.testkit;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The external service of tools under test, in a process that is not killed. A request takes effect even if the
 * requester is gone by then. The service does not use Temporal and does not deduplicate by key: a repeated request has
 * two effects, and the ledger shows both.
 *
 * <p>The ledger listens on loopback and uses a line protocol, so that shells can use it. {@code effect KEY CALL} is
 * answered with {@code done} once the effect is stored on disk; {@code landed KEY} is answered with {@code yes} or
 * {@code no}. {@code forbid KEY TOKEN} is also answered with {@code yes} or {@code no}; after a {@code no}, effects of
 * this key are answered with {@code refused}, unless they are sent as {@code effect KEY CALL TOKEN} with a larger
 * token.
 *
 * <pre>{@code
 * try (EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"))) {
 *     // RecordingTool.of("charge", ledger.port()), in a worker that is killed …
 *     assertThat(ledger.effects()).hasSize(1);
 * }
 * }</pre>
 */
public final class EffectLedger implements AutoCloseable {
    /** Time between the request and its effect, in which the requester can die. */
    private static final Duration LATENCY = Duration.ofMillis(50);

    private final ServerSocket socket;
    private final FileChannel file;
    private final Path path;
    /** The largest refused token, by key. */
    private final Map<String, Long> forbidden = new HashMap<>();

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "effect ledger");
        thread.setDaemon(true);
        return thread;
    });

    private EffectLedger(Path path) throws IOException {
        this.path = path;
        this.file =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        this.socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        threads.execute(this::listen);
    }

    /** Opens a ledger that appends its effects to this file. Creates the file if it does not exist. */
    public static EffectLedger open(Path file) {
        try {
            return new EffectLedger(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * An effect of a request.
     *
     * @param at the time at which the effect was stored
     * @param key the idempotency key in the request
     * @param call the call id in the request
     */
    public record Effect(Instant at, String key, String call) {}

    /** Returns the port on loopback to which tools send their requests. */
    public int port() {
        return socket.getLocalPort();
    }

    /** Returns all effects in the order in which they happened. */
    public synchronized List<Effect> effects() {
        try {
            return Files.readAllLines(path).stream()
                    .map(line -> line.split(" ", 3))
                    .map(words -> new Effect(Instant.parse(words[0]), words[1], words[2]))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void listen() {
        try {
            while (true) {
                Socket asker = socket.accept();
                threads.execute(() -> serve(asker));
            }
        } catch (SocketException e) {
            // The ledger was closed.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serve(Socket asker) {
        try (asker) {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(asker.getInputStream(), StandardCharsets.UTF_8));
            String[] words = String.valueOf(lines.readLine()).split(" ", 4);
            String answer;
            if (words[0].equals("effect") && words.length >= 3) {
                Thread.sleep(LATENCY.toMillis());
                answer = append(words[1], words[2], words.length == 4 ? Long.parseLong(words[3]) : 0)
                        ? "done"
                        : "refused";
            } else if (words[0].equals("landed") && words.length == 2) {
                answer = hasLanded(words[1]) ? "yes" : "no";
            } else if (words[0].equals("forbid") && words.length == 3) {
                answer = forbid(words[1], Long.parseLong(words[2])) ? "no" : "yes";
            } else {
                answer = "?";
            }
            asker.getOutputStream().write((answer + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // The requester is gone.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean hasLanded(String key) {
        return effects().stream().anyMatch(effect -> effect.key().equals(key));
    }

    /**
     * Returns whether the key has had no effect yet. If so, effects with this token or a smaller one are refused from
     * now on.
     */
    private synchronized boolean forbid(String key, long token) {
        if (hasLanded(key)) {
            return false;
        }
        forbidden.merge(key, token, Math::max);
        return true;
    }

    private synchronized boolean append(String key, String call, long token) throws IOException {
        if (token <= forbidden.getOrDefault(key, -1L)) {
            return false;
        }
        String line = Instant.now() + " " + key + " " + call + "\n";
        file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        file.force(true);
        return true;
    }

    @Override
    public void close() {
        try (Closeable first = socket;
                Closeable second = file) {
            threads.shutdownNow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
