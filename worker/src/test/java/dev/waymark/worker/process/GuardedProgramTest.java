package dev.waymark.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedProgramTest {
    @Test
    void program_thatExits_keepsItsCodeAndTheGuardIsSilent() throws Exception {
        Process process = started("exit 3");

        assertThat(process.waitFor()).isEqualTo(3);
        assertThat(error(process)).isEmpty();
    }

    @Test
    void end_asksTheProgramToEndAndTheGuardIsSilent() throws Exception {
        Process process = started("trap 'echo asked; exit 0' TERM; echo begun; while :; do sleep 0.1; done");
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("begun");
            GuardedProgram.end(process);

            assertThat(output.readLine()).isEqualTo("asked");
        }
        assertThat(process.isAlive()).isFalse();
        assertThat(error(process)).isEmpty();
    }

    @Test
    void end_programThatIgnoresSigterm_isKilled() throws Exception {
        Process process = started("trap '' TERM; echo begun; exec sleep 100");
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("begun");
            GuardedProgram.end(process);
        }

        assertThat(process.isAlive()).isFalse();
    }

    private static Process started(String program) throws IOException {
        return GuardedProgram.builder(List.of("/bin/sh", "-c", program)).start();
    }

    private static String error(Process process) throws IOException {
        return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
