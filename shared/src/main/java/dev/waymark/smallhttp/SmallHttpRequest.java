package dev.waymark.smallhttp;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A request.
 *
 * @param path the path as sent, without the query
 * @param headers all values by header name, whose case does not matter
 * @param body empty until the whole body was received
 */
public record SmallHttpRequest(String method, String path, Map<String, List<String>> headers, byte[] body) {
    /** The head or the length of the body is not what HTTP/1.1 allows, or what this server supports. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        private final int status;

        Malformed(int status, String message) {
            super(message);
            this.status = status;
        }

        SmallHttpReply reply() {
            return SmallHttpReply.text(status, String.valueOf(getMessage()));
        }
    }

    /** Parses a head, without the empty line that ends it. */
    static SmallHttpRequest parse(byte[] head) throws Malformed {
        String[] lines = new String(head, StandardCharsets.ISO_8859_1).split("\r\n", -1);
        if (Arrays.stream(lines).anyMatch(line -> line.indexOf('\n') >= 0 || line.indexOf('\r') >= 0)) {
            throw new Malformed(400, "a line does not end with CR LF");
        }
        String[] words = lines[0].split(" ", -1);
        if (words.length != 3 || !words[1].startsWith("/") || !words[2].matches("HTTP/1\\.[01]")) {
            throw new Malformed(400, "not a request of HTTP/1.1");
        }
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon < 1 || lines[i].substring(0, colon).matches(".*\\s.*")) {
                throw new Malformed(400, "not a header of HTTP/1.1");
            }
            headers.computeIfAbsent(lines[i].substring(0, colon), name -> new ArrayList<>())
                    .add(lines[i].substring(colon + 1).strip());
        }
        if (headers.getOrDefault("Authorization", List.of()).size() > 1) {
            throw new Malformed(400, "more than one Authorization");
        }
        return new SmallHttpRequest(
                words[0], words[1].replaceFirst("\\?.*", ""), Collections.unmodifiableMap(headers), new byte[0]);
    }

    /** The length of the body, which must be sent in one piece. */
    int contentLength(int most) throws Malformed {
        if (headers.containsKey("Transfer-Encoding")) {
            throw new Malformed(411, "a Content-Length is required");
        }
        List<String> lengths = headers.getOrDefault("Content-Length", List.of("0"));
        if (lengths.size() != 1 || !lengths.get(0).matches("\\d{1,18}")) {
            throw new Malformed(400, "not a Content-Length");
        }
        long length = Long.parseLong(lengths.get(0));
        if (length > most) {
            throw new Malformed(413, "the body may have at most " + most + " bytes");
        }
        return (int) length;
    }

    SmallHttpRequest withBody(byte[] received) {
        return new SmallHttpRequest(method, path, headers, received);
    }

    /** The first value of a header. */
    public Optional<String> header(String name) {
        return headers.getOrDefault(name, List.of()).stream().findFirst();
    }
}
