package dev.waymark.smallhttp;

import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A complete reply. */
public record SmallHttpReply(int status, Map<String, String> headers, byte[] body) {
    public SmallHttpReply {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** A reply with a line of plain text. */
    public static SmallHttpReply text(int status, String line) {
        return of(status, "text/plain; charset=utf-8", line + "\n");
    }

    public static SmallHttpReply of(int status, String contentType, String body) {
        return new SmallHttpReply(status, Map.of("Content-Type", contentType), body.getBytes(StandardCharsets.UTF_8));
    }

    public static SmallHttpReply empty(int status) {
        return new SmallHttpReply(status, Map.of(), new byte[0]);
    }

    public SmallHttpReply withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new SmallHttpReply(status, more, body);
    }

    public SmallHttpReply withHeaders(Map<String, String> added) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.putAll(added);
        return new SmallHttpReply(status, more, body);
    }

    private static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 204 -> "No Content";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 411 -> "Length Required";
            case 413 -> "Content Too Large";
            case 422 -> "Unprocessable Content";
            case 431 -> "Request Header Fields Too Large";
            case 503 -> "Service Unavailable";
            default -> "Internal Server Error";
        };
    }

    /** The head in wire format. */
    byte[] head() {
        StringBuilder head = new StringBuilder("HTTP/1.1 ")
                .append(status)
                .append(' ')
                .append(reason(status))
                .append("\r\n");
        head.append("Date: ")
                .append(DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)))
                .append("\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        if (status != 204) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        return head.append("Connection: close\r\n\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
