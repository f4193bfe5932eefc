package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** The download, from a local service instead of the internet. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
class TemporalDownloadTest {
    private static final String BASE_URL = "io.temporal.testing.devServerDownloadBaseUrl";
    private static final String PROGRAM = "#!/bin/sh\necho temporal\n";
    private static final String SHA_256 = "0081e94e235c313063c4919dc3d070aed8f4b522830f03b7f2d2917b2ac96551";

    @TempDir
    Path home;

    private final AtomicInteger requests = new AtomicInteger();
    private HttpServer service;

    @BeforeEach
    void serve() throws Exception {
        byte[] archive = archive();
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String address = "http://127.0.0.1:" + service.getAddress().getPort();
        answer(
                "/cli/",
                ("{\"archiveUrl\":\"" + address + "/archive\",\"fileToExtract\":\"temporal\"}")
                        .getBytes(StandardCharsets.UTF_8));
        answer("/archive", archive);
        service.start();
        System.setProperty(BASE_URL, address);
    }

    @AfterEach
    void stop() {
        System.clearProperty(BASE_URL);
        service.stop(0);
    }

    private void answer(String path, byte[] body) {
        service.createContext(path, exchange -> {
            requests.incrementAndGet();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    private byte[] archive() throws Exception {
        Path file = Files.writeString(home.resolve("temporal"), PROGRAM);
        Path archive = home.resolve("temporal.tar.gz");
        int exitCode = new ProcessBuilder("tar", "-czf", archive.toString(), "-C", home.toString(), "temporal")
                .start()
                .waitFor();
        assertThat(exitCode).isZero();
        Files.delete(file);
        return Files.readAllBytes(archive);
    }

    private Map<String, String> environment() {
        return Map.of("HOME", home.toString());
    }

    @Test
    void fetch_downloadsACommandThatIsFoundLater() throws Exception {
        assertThat(TemporalDownload.cached(environment())).isEmpty();

        TemporalDownload.Downloaded downloaded = TemporalDownload.fetch(Optional.empty(), environment());

        assertThat(downloaded.binary()).startsWith(home).isExecutable().hasContent(PROGRAM);
        assertThat(downloaded.sha256()).isEqualTo(SHA_256);
        int soFar = requests.get();
        assertThat(TemporalDownload.fetch(Optional.empty(), environment())).isEqualTo(downloaded);
        assertThat(TemporalDownload.cached(environment())).contains(downloaded.binary());
        assertThat(TemporalBinary.find(environment())).contains(downloaded.binary());
        assertThat(requests).hasValue(soFar);
    }

    @Test
    void fetch_withoutANetwork_saysWhy() {
        service.stop(0);

        assertThatThrownBy(() -> TemporalDownload.fetch(Optional.empty(), environment()))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Connection refused");
        assertThat(TemporalDownload.cached(environment())).isEmpty();
    }

    @Test
    void fetch_wrongChecksum_leavesNoCommand() throws Exception {
        Optional<String> wrong = Optional.of("a".repeat(64));

        assertThatThrownBy(() -> TemporalDownload.fetch(wrong, environment()))
                .isInstanceOf(TemporalDownload.ChecksumMismatch.class)
                .hasMessage(SHA_256);
        assertThat(TemporalDownload.cached(environment())).isEmpty();

        TemporalDownload.fetch(Optional.of(SHA_256.toUpperCase(Locale.ROOT)), environment());
        assertThatThrownBy(() -> TemporalDownload.fetch(wrong, environment()))
                .isInstanceOf(TemporalDownload.ChecksumMismatch.class);
        assertThat(TemporalDownload.cached(environment())).isEmpty();
    }

    @Test
    void fetch_truncatedArchive_leavesNoCommand() throws Exception {
        Path archive = home.resolve("temporal.tar.gz");
        answer(
                "/cut/cli/",
                ("{\"archiveUrl\":\"" + System.getProperty(BASE_URL) + "/cut/archive\",\"fileToExtract\":\"temporal\"}")
                        .getBytes(StandardCharsets.UTF_8));
        answer("/cut/archive", Arrays.copyOf(Files.readAllBytes(archive), (int) Files.size(archive) / 2));
        System.setProperty(BASE_URL, System.getProperty(BASE_URL) + "/cut");

        assertThatThrownBy(() -> TemporalDownload.fetch(Optional.empty(), environment()))
                .isInstanceOf(IOException.class)
                .hasMessage("the file ends too early");
        assertThat(TemporalDownload.cached(environment())).isEmpty();
    }
}
