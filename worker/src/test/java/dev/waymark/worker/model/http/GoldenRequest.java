package dev.waymark.worker.model.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A recorded request, checked in as text. If the beginning of a conversation changes, services bill it in full again
 * and may refuse its reasoning, so a change of words or order belongs into the changelog. Recorded with
 * {@code -Drequests.record=true}.
 */
public final class GoldenRequest {
    private static final Path DIRECTORY = Path.of("src", "test", "resources", "requests");

    private GoldenRequest() {}

    public static void check(String name, Object body) throws IOException {
        String sent = ProviderJson.MAPPER
                        .writer(new DefaultPrettyPrinter()
                                .withObjectIndenter(new DefaultIndenter("  ", "\n"))
                                .withArrayIndenter(new DefaultIndenter("  ", "\n")))
                        .writeValueAsString(body)
                + "\n";
        Path file = DIRECTORY.resolve(name);
        if (Boolean.getBoolean("requests.record")) {
            Files.createDirectories(DIRECTORY);
            Files.writeString(file, sent);
        }
        assertThat(sent).isEqualTo(Files.readString(file));
    }
}
