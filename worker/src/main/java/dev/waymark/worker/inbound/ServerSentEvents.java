package dev.waymark.worker.inbound;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads the data of the events in a {@code text/event-stream}, and ignores everything else. An event that is incomplete
 * at the end of the stream is dropped. Holds one event at a time. Not thread-safe.
 */
public final class ServerSentEvents {
    private static final byte[] DATA = "data".getBytes(StandardCharsets.US_ASCII);

    private final InputStream in;
    private final long most;
    private final BoundedBuffer event;
    private final byte[] chunk = new byte[8 * 1024];
    private int next;
    private int end;
    private long bytes;
    private boolean afterReturn;

    /**
     * @param mostBytes the limit for the whole stream
     * @param mostEventBytes the limit for an event, including the line being read
     */
    public ServerSentEvents(InputStream in, long mostBytes, int mostEventBytes, MemoryBudget.Share memory) {
        this.in = in;
        this.most = mostBytes;
        this.event = new BoundedBuffer("an event", mostEventBytes, memory);
    }

    /**
     * Returns the next event's data, with lines separated by line feeds; empty at the end of the stream.
     *
     * @throws InputTooLargeException if an event or the stream exceeds its limit
     * @throws MemoryShortException if there is no memory left for the event
     */
    public Optional<String> next() throws IOException {
        event.truncate(0);
        int line = 0;
        for (int b = read(); b >= 0; b = read()) {
            boolean secondOfTwo = b == '\n' && afterReturn;
            afterReturn = b == '\r';
            if (secondOfTwo) {
                continue;
            }
            if (b != '\n' && b != '\r') {
                event.add(b);
            } else if (event.size() > line) {
                line = endOfLine(line);
            } else if (line > 0) {
                event.truncate(line - 1);
                return Optional.of(event.text());
            }
        }
        return Optional.empty();
    }

    /** Keeps the value of a data line, with a line feed, or drops another line. Returns where the next line starts. */
    private int endOfLine(int line) throws IOException {
        int colon = line + DATA.length;
        boolean isData = event.startsWith(line, DATA) && (event.size() == colon || event.at(colon) == ':');
        if (!isData) {
            event.truncate(line);
            return line;
        }
        int value = Math.min(event.size(), colon + 1);
        if (value < event.size() && event.at(value) == ' ') {
            value++;
        }
        event.remove(line, value - line);
        event.add('\n');
        return event.size();
    }

    private int read() throws IOException {
        if (next == end) {
            next = 0;
            end = Math.max(0, in.read(chunk));
            bytes += end;
            if (bytes > most) {
                throw new InputTooLargeException("a stream of more than " + most + " bytes");
            }
            if (end == 0) {
                return -1;
            }
        }
        return chunk[next++] & 0xff;
    }
}
