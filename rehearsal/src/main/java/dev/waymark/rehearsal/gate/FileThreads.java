package dev.waymark.rehearsal.gate;

import dev.waymark.history.HistoryAudit;
import dev.waymark.history.ThreadHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Threads in the {@code *.json} files of a directory, as {@code waymark export} writes them. */
public final class FileThreads implements ThreadSource {
    private final Path directory;
    private final UnaryOperator<ThreadHistory> decoder;

    /** @param decoder decrypts a thread that was exported as its server stores it */
    public FileThreads(Path directory, UnaryOperator<ThreadHistory> decoder) {
        this.directory = directory;
        this.decoder = decoder;
    }

    @Override
    public List<String> names() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".json"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Optional<ThreadHistory> read(String name) {
        Path file = directory.resolve(name);
        try {
            return Optional.of(decoder.apply(ThreadHistory.parse(Files.readString(file))));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Optional<HistoryAudit.Live> live(String name) {
        return Optional.empty();
    }
}
