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
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The other side of tools that are tested: a service, in a process that is not killed, where every request takes effect,
 * also when whoever asked is gone by then. It knows nothing of Temporal and trusts nobody's keys: the same request twice
 * is two effects, and the ledger shows both.
 *
 * <p>It listens on loopback and speaks lines, so that a shell can ask too: {@code effect KEY CALL} is answered {@code
 * done} once the effect is in the file and the file on the disk; {@code landed KEY} is answered {@code yes} or {@code no}.
 *
 * <pre>{@code
 * try (EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"))) {
 *     // RecordingTool.of("charge", ledger.port()), in a worker that is killed …
 *     assertThat(ledger.effects()).hasSize(1);
 * }
 * }</pre>
 */
public final class EffectLedger implements AutoCloseable {
    /** The request is here, and whoever sent it has time to die before it takes effect. */
    private static final Duration LATENCY = Duration.ofMillis(50);

    private final ServerSocket socket;
    private final FileChannel file;
    private final Path path;
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

    /** Goes on with this file, or begins it. */
    public static EffectLedger open(Path file) {
        try {
            return new EffectLedger(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Something that happened. */
    public record Effect(Instant at, String key, String call) {}

    public int port() {
        return socket.getLocalPort();
    }

    /** All that happened, in the order in which it did. */
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
            // Closed.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serve(Socket asker) {
        try (asker) {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(asker.getInputStream(), StandardCharsets.UTF_8));
            String[] words = String.valueOf(lines.readLine()).split(" ", 3);
            String answer;
            if (words[0].equals("effect") && words.length == 3) {
                Thread.sleep(LATENCY.toMillis());
                append(words[1], words[2]);
                answer = "done";
            } else if (words[0].equals("landed") && words.length == 2) {
                answer = effects().stream().anyMatch(effect -> effect.key().equals(words[1])) ? "yes" : "no";
            } else {
                answer = "?";
            }
            asker.getOutputStream().write((answer + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // Whoever asked is gone.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void append(String key, String call) throws IOException {
        String line = Instant.now() + " " + key + " " + call + "\n";
        file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        file.force(true);
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
