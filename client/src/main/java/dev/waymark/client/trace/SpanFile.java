package dev.waymark.client.trace;

import dev.waymark.saver.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes spans to a file, one OTLP request in JSON per line, as the file receivers of collectors read them. */
public final class SpanFile implements SpanSink {
    private final Writer file;
    private final String service;

    /** Replaces the file, which only its owner can read. */
    public SpanFile(Path path, String service) throws IOException {
        PrivateFiles.create(path);
        this.file = Files.newBufferedWriter(path);
        this.service = service;
    }

    @Override
    public void take(List<Span> spans) {
        if (spans.isEmpty()) {
            return;
        }
        try {
            file.write(OtlpRequest.json(spans, service) + "\n");
            file.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
