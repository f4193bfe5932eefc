package dev.waymark.worker.rehearsal;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Usd;
import dev.waymark.saver.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What a rehearsal has spent, in a file, so that its ceiling also holds if it is killed and started again. The most that
 * a request can cost is on the disk before the request is sent, and counts until the request's true cost is there.
 * Thread-safe.
 */
public final class SpendingLedger implements AutoCloseable {
    private final Path file;
    private final FileChannel channel;
    private final Usd ceiling;
    private final Instant begun;

    /** The reservations whose true cost is not known, by number. Guarded by this. */
    private final Map<Long, Usd> reserved = new LinkedHashMap<>();

    /** The reservations of this process whose requests have not ended. Guarded by this. */
    private int running;

    private Usd settled = Usd.ZERO;
    private long last;

    /** A line of the file: the beginning of the rehearsal, a reservation, or what a request has cost. */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    private record Line(Optional<Instant> begun, Optional<Long> reserve, Optional<Long> settle, Optional<Usd> usd) {}

    /** A request would pass the ceiling. */
    public static final class CeilingReached extends Exception {
        private static final long serialVersionUID = 1;

        CeilingReached(String message) {
            super(message);
        }
    }

    /** Another process is running the rehearsal. */
    public static final class InUse extends Exception {
        private static final long serialVersionUID = 1;

        InUse() {
            super("another process is running this rehearsal");
        }
    }

    private SpendingLedger(Path file, FileChannel channel, Usd ceiling, Instant now) throws IOException {
        this.file = file;
        this.channel = channel;
        this.ceiling = ceiling;
        Instant first = now;
        boolean isNew = true;
        for (String text : Files.readString(file).split("\n")) {
            Optional<Line> line = read(text);
            if (line.isPresent()) {
                first = line.get().begun().orElse(first);
                isNew = false;
                take(line.get());
            }
        }
        this.begun = first;
        channel.position(channel.size());
        // A kill may have cut the last line. Its request was not sent, and the next line must not continue it.
        append("\n", false);
        if (isNew) {
            append(new Line(Optional.of(now), Optional.empty(), Optional.empty(), Optional.empty()), true);
        }
    }

    /**
     * Opens the ledger of a rehearsal, or begins one.
     *
     * @param ceiling the most that the rehearsal may spend, with everything that an earlier process has spent on it
     * @throws InUse if another process is running this rehearsal
     */
    public static SpendingLedger open(Path file, Usd ceiling, Instant now) throws IOException, InUse {
        PrivateFiles.createDirectories(
                Objects.requireNonNull(file.toAbsolutePath().getParent()));
        PrivateFiles.create(file);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return new SpendingLedger(file, channel, ceiling, now);
            }
        } catch (OverlappingFileLockException e) {
            // Held by this process.
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        channel.close();
        throw new InUse();
    }

    private static Optional<Line> read(String text) {
        try {
            return text.isBlank() ? Optional.empty() : Optional.of(PayloadJson.MAPPER.readValue(text, Line.class));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private void take(Line line) {
        Usd usd = line.usd().orElse(Usd.ZERO);
        line.reserve().ifPresent(number -> {
            reserved.put(number, usd);
            last = Math.max(last, number);
        });
        line.settle().ifPresent(number -> {
            reserved.remove(number);
            settled = settled.plus(usd);
        });
    }

    /** When the first process of this rehearsal began. */
    public Instant begun() {
        return begun;
    }

    /** What has been spent, including requests whose true cost is not known. */
    public synchronized Usd spent() {
        return reserved.values().stream().reduce(settled, Usd::plus);
    }

    /**
     * Reserves the most that a request can cost. Waits for running requests if it would fit without their reservations.
     *
     * @return the number of the reservation, for {@link #settle} or {@link #keep}
     * @throws CeilingReached if the request could pass the ceiling
     */
    synchronized long reserve(Usd most) throws CeilingReached, InterruptedException {
        while (spent().plus(most).compareTo(ceiling) > 0) {
            if (running == 0) {
                throw new CeilingReached("the next request may cost " + most + " USD, and " + spent() + " of " + ceiling
                        + " USD are spent");
            }
            wait();
        }
        long number = ++last;
        append(new Line(Optional.empty(), Optional.of(number), Optional.empty(), Optional.of(most)), true);
        reserved.put(number, most);
        running++;
        return number;
    }

    /** Replaces a reservation by what the request has cost. */
    synchronized void settle(long number, Usd cost) {
        append(new Line(Optional.empty(), Optional.empty(), Optional.of(number), Optional.of(cost)), false);
        reserved.remove(number);
        settled = settled.plus(cost);
        ended();
    }

    /** Keeps a reservation: nobody knows what the request has cost. */
    synchronized void keep() {
        ended();
    }

    private void ended() {
        running--;
        notifyAll();
    }

    private void append(Line line, boolean durably) {
        try {
            append(PayloadJson.MAPPER.writeValueAsString(line) + "\n", durably);
        } catch (IOException e) {
            throw new UncheckedIOException("the spending of the rehearsal can't be written: " + file, e);
        }
    }

    private void append(String text, boolean durably) throws IOException {
        ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        if (durably) {
            channel.force(true);
        }
    }

    /** Ends the rehearsal: the next one like it begins with nothing spent. */
    public void finish() throws IOException {
        Files.deleteIfExists(file);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
