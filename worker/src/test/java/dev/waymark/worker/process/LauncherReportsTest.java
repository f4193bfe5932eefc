package dev.waymark.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LauncherReportsTest {
    private static final List<String> NAMES = List.of("START", "LATE", "UNSTARTED", "TIMEOUT", "EXIT", "GONE");

    private static final CommandResult UNKNOWN = new CommandResult.Killed(
            "its end is unknown, because another program wrote into the pipe of its launcher", "");
    private static final CommandResult NO_END =
            new CommandResult.Killed("it was killed because its launcher was killed", "");

    /** Takes these reports, separated by commas, with the names replaced by the launcher's words. */
    private static CommandResult result(String lines) {
        LauncherReports reports = new LauncherReports();
        String[] words = reports.words().strip().split(" ");
        // UNSTARTED contains START.
        String told = lines.replace("UNSTARTED", words[NAMES.indexOf("UNSTARTED")]);
        for (String name : NAMES) {
            told = told.replace(name, words[NAMES.indexOf(name)]);
        }
        for (String line : told.split(",")) {
            if (line.equals("giving up")) {
                reports.giveUp();
            } else {
                reports.take(line);
            }
        }
        return reports.result("./charge.sh", Duration.ofSeconds(2), "", "");
    }

    @Test
    void reportsOfALauncher_sayHowTheProgramEnded() {
        assertThat(result("START 7,EXIT 3,GONE")).isEqualTo(new CommandResult.Exited(3, "", ""));
        assertThat(result("START 7,EXIT 3,TIMEOUT,GONE")).isEqualTo(new CommandResult.Exited(3, "", ""));
        assertThat(result("START 7,TIMEOUT,EXIT 0"))
                .isEqualTo(new CommandResult.Killed("timed out after 2s and was killed", ""));
        assertThat(result("TIMEOUT,START 7,EXIT 0"))
                .isEqualTo(new CommandResult.Killed("timed out after 2s and was killed", ""));
        assertThat(result("START 7,UNSTARTED 127,GONE"))
                .isEqualTo(new CommandResult.NotStarted("cannot start ./charge.sh", false));
        assertThat(result("LATE,GONE"))
                .isEqualTo(new CommandResult.NotStarted("./charge.sh was not started in time", true));
        assertThat(result("START 7,GONE")).isEqualTo(NO_END);
        assertThat(result("START 7,GONE,GONE")).isEqualTo(NO_END);
        assertThat(result("START 7,giving up,EXIT 0")).isEqualTo(NO_END);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "late",
                "start 7,exit 0",
                "START 7,late",
                "START 7,LATE",
                "START 7,START 7,EXIT 0",
                "START 7,EXIT 1,EXIT 0",
                "START 7,EXIT 0,UNSTARTED 127",
                "START 7,UNSTARTED 127,EXIT 0",
                "START 7,EXIT 0,late",
                "START 7,EXIT zero",
                "START 7,EXIT",
                "START seven,EXIT 0",
                "START 7,partEXIT 0",
                "START 7,\u0000EXIT 0",
                "LATE,START 7,EXIT 0",
                "LATE,LATE",
                "LATE 1,late",
                "UNSTARTED 127",
                "EXIT 0",
            })
    void forgedReport_leavesTheEndUnknown(String lines) {
        assertThat(result(lines)).isEqualTo(UNKNOWN);
    }

    @Test
    void words_differForEveryCall() {
        assertThat(new LauncherReports().words())
                .isNotEqualTo(new LauncherReports().words())
                .hasSizeGreaterThan(6 * 16);
    }
}
