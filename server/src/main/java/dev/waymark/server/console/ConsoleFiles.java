package dev.waymark.server.console;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.server.http.HttpReply;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files of the console, by path. The page lists all of its files, so the list is read from the page.
 *
 * <p>Everyone may load them: they contain no data. The page can run only its own scripts, and send requests only to its
 * own server, so text from a model or a tool can neither become a script nor be sent elsewhere.
 */
public final class ConsoleFiles {
    private static final String PAGE = "index.html";
    private static final Pattern FILE = Pattern.compile("\"/console/([a-z-]+\\.(?:js|css|svg))\"");
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types 'none'";
    private static final Map<String, String> CONTENT_TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    private ConsoleFiles() {}

    /** Loads the files from this jar. */
    public static Map<String, HttpReply> load() {
        byte[] page = read(PAGE);
        Map<String, HttpReply> files = new LinkedHashMap<>();
        files.put("/", reply(PAGE, page));
        Matcher names = FILE.matcher(new String(page, StandardCharsets.UTF_8));
        while (names.find()) {
            files.computeIfAbsent("/console/" + names.group(1), path -> reply(names.group(1), read(names.group(1))));
        }
        return files;
    }

    private static HttpReply reply(String name, byte[] content) {
        String type = Objects.requireNonNull(CONTENT_TYPES.get(name.substring(name.indexOf('.') + 1)));
        return new HttpReply(
                200,
                type,
                content,
                Map.of(
                        "Content-Security-Policy", POLICY,
                        "Referrer-Policy", "no-referrer",
                        "Cross-Origin-Opener-Policy", "same-origin",
                        "Cross-Origin-Resource-Policy", "same-origin",
                        "Permissions-Policy", "camera=(), geolocation=(), microphone=()",
                        // The browser keeps the file but checks it at each use, so that a new version appears at once.
                        "Cache-Control", "no-cache",
                        // Weak, because the file may be sent compressed.
                        "Vary", "Accept-Encoding",
                        "ETag", "W/\"" + Sha256.hex(new String(content, StandardCharsets.UTF_8)) + "\""));
    }

    private static byte[] read(String name) {
        try (InputStream file = ConsoleFiles.class.getResourceAsStream(name)) {
            return Objects.requireNonNull(file, name).readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the console's file " + name, e);
        }
    }
}
