package dev.waymark.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/** A complete response. */
public record HttpReply(int status, String contentType, byte[] body, Map<String, String> headers)
        implements HttpAnswer {
    public HttpReply {
        headers = Map.copyOf(headers);
    }

    public static HttpReply json(int status, JsonNode document) {
        return new HttpReply(
                status, "application/json", document.toString().getBytes(StandardCharsets.UTF_8), Map.of());
    }

    /** A response with a line of plain text. */
    public static HttpReply text(int status, String line) {
        return text(status, "text/plain; charset=utf-8", line + "\n");
    }

    public static HttpReply text(int status, String contentType, String text) {
        return new HttpReply(status, contentType, text.getBytes(StandardCharsets.UTF_8), Map.of());
    }

    public HttpReply withHeader(String name, String value) {
        return withHeaders(Map.of(name, value));
    }

    public HttpReply withHeaders(Map<String, String> added) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.putAll(added);
        return new HttpReply(status, contentType, body, more);
    }

    /** The response with a compressed body, for clients that accept {@code gzip}. */
    HttpReply gzipped() {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new HttpReply(status, contentType, compressed.toByteArray(), headers)
                .withHeader("Content-Encoding", "gzip");
    }

    /** A response without a body. */
    public static HttpReply empty(int status) {
        return new HttpReply(status, "", new byte[0], Map.of());
    }
}
