package dev.waymark.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The reports of rehearsals in a directory, which is read again for each request. They contain parts of the
 * conversations of any threads, so only callers that see all threads may read them.
 */
final class RehearsalReports {
    private static final String SUFFIX = ".html";
    private static final int MOST = 50;
    private static final long LARGEST = 64L * 1024 * 1024;

    /** A report contains no scripts and loads nothing. Its texts are those of models, so the browser enforces that. */
    private static final String POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

    private final Optional<Path> directory;

    RehearsalReports(Optional<Path> directory) {
        this.directory = directory;
    }

    /** An entry in the list. */
    private record Listed(String name, Instant at) {}

    /** @param directory where the reports are, so that people know where to put one */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    private record ReportList(List<Listed> reports, Optional<String> directory) {}

    List<Route> routes() {
        return List.of(
                Route.get(
                                "listRehearsals",
                                "/v1/rehearsals",
                                request -> HttpReply.json(
                                        200,
                                        JsonDocuments.tree(new ReportList(
                                                newest(),
                                                directory.map(each -> each.toAbsolutePath()
                                                        .normalize()
                                                        .toString())))))
                        .requiring(CallerRole.OPERATE),
                Route.get("getRehearsal", "/v1/rehearsals/{report}", this::report)
                        .requiring(CallerRole.OPERATE));
    }

    private List<Listed> newest() {
        return files().stream()
                .map(RehearsalReports::listed)
                .flatMap(Optional::stream)
                .sorted(Comparator.comparing(Listed::at).reversed().thenComparing(Listed::name))
                .limit(MOST)
                .toList();
    }

    private List<Path> files() {
        if (directory.filter(Files::isDirectory).isEmpty()) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory.get())) {
            return files.filter(file -> name(file).endsWith(SUFFIX))
                    .filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    /** Empty if the file was deleted meanwhile. */
    private static Optional<Listed> listed(Path file) {
        try {
            return Optional.of(
                    new Listed(name(file), Files.getLastModifiedTime(file).toInstant()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private HttpAnswer report(ApiRequest request) {
        String wanted = request.pathParameter("report");
        Path file = files().stream()
                .filter(each -> name(each).equals(wanted))
                .findFirst()
                .orElseThrow(() -> HttpProblem.notFound("no such report: " + wanted));
        try {
            if (Files.size(file) > LARGEST) {
                throw HttpProblem.notFound("the report is too large to show: " + wanted);
            }
            return new HttpReply(
                    200,
                    "text/html; charset=utf-8",
                    Files.readAllBytes(file),
                    Map.of("Content-Security-Policy", POLICY, "Referrer-Policy", "no-referrer"));
        } catch (IOException e) {
            throw HttpProblem.notFound("the report can't be read: " + wanted);
        }
    }
}
