package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TemporalBinaryTest {

    @TempDir
    Path home;

    @Test
    void find_variablePathAndGo_areSearchedInThisOrder() throws Exception {
        Path go = program("go/bin/temporal");
        assertThat(find("", "")).contains(go);
        Path onPath = program("bin/temporal");
        assertThat(find("", home.resolve("nowhere") + "::" + home.resolve("bin")))
                .contains(onPath);
        Path named = program("tools/temporal-1.5");
        assertThat(find(named.toString(), home.resolve("bin").toString())).contains(named);
    }

    @Test
    void find_goPathSet_looksThere() throws Exception {
        Path go = program("elsewhere/bin/temporal");
        Map<String, String> environment =
                Map.of("GOPATH", home.resolve("elsewhere").toString());
        assertThat(TemporalBinary.find(environment)).contains(go);
    }

    @Test
    void find_nonExecutableFile_isSkipped() throws Exception {
        Path go = program("go/bin/temporal");
        Files.createDirectories(home.resolve("bin/temporal"));
        assertThat(find("", home.resolve("bin").toString())).contains(go);
    }

    @Test
    void find_variableNamesNoProgram_throws() {
        String nowhere = home.resolve("nowhere").toString();
        assertThatThrownBy(() -> find(nowhere, ""))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(nowhere + ": not an executable file, but set as TEMPORAL_CLI");
    }

    private Optional<Path> find(String variable, String path) throws IOException {
        return TemporalBinary.find(Map.of("TEMPORAL_CLI", variable, "PATH", path, "HOME", home.toString()));
    }

    private Path program(String name) throws IOException {
        Path file = home.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }
}
