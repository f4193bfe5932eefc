package dev.waymark.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.message.SubagentReport;
import dev.waymark.conversation.call.SubagentProgress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ThreadReportsTest {
    private final ThreadReports reports = new ThreadReports();

    @Test
    void earlyReports_areKeptOncePerThread_andOfTheNewestThreads() {
        report("oldest", true);
        report("kept", false);
        report("kept", true);
        for (int i = 1; i < ThreadReports.MOST_EARLY; i++) {
            report("strange-" + i, false);
        }

        assertThat(received("oldest")).isEmpty();
        assertThat(received("kept")).singleElement().matches(SubagentProgress::waiting);
        assertThat(received("kept")).as("handed over already").isEmpty();
    }

    private void report(String thread, boolean waiting) {
        SubagentProgress none = SubagentProgress.NONE;
        reports.deliver(new SubagentReport(thread, new SubagentProgress(waiting, none.asks(), none.spent())));
    }

    private List<SubagentProgress> received(String thread) {
        List<SubagentProgress> all = new ArrayList<>();
        reports.add(thread, all::add);
        return all;
    }
}
