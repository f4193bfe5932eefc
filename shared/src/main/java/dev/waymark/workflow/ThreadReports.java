package dev.waymark.workflow;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.message.SubagentReport;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.SignalNames;
import io.temporal.common.converter.RawValue;
import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowLocal;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Hands the reports of threads to the workflow that started them. A workflow has one handler of a signal. */
final class ThreadReports {
    private static final WorkflowLocal<ThreadReports> OF_WORKFLOW = WorkflowLocal.withCachedInitial(() -> {
        ThreadReports reports = new ThreadReports();
        Workflow.registerListener((Listener) reports::receive);
        return reports;
    });

    /** A workflow can be sent reports of threads to which it never listens. */
    static final int MOST_EARLY = 1_000;

    private final Map<String, Consumer<SubagentProgress>> receivers = new LinkedHashMap<>();
    /** The newest report of each thread that reported before its receiver listened, oldest first. */
    private final Map<String, SubagentProgress> early = new LinkedHashMap<>();

    /** The signal of the threads. Public, because the SDK calls it by reflection. */
    public interface Listener {
        @SignalMethod(name = SignalNames.SUBAGENT, description = "A thread reports to this workflow.")
        void report(@Nullable RawValue payload);
    }

    /** From now on, hands the reports of this thread to this receiver, beginning with the newest one so far. */
    static void listen(String thread, Consumer<SubagentProgress> receiver) {
        OF_WORKFLOW.get().add(thread, receiver);
    }

    void add(String thread, Consumer<SubagentProgress> receiver) {
        receivers.put(thread, receiver);
        SubagentProgress newest = early.remove(thread);
        if (newest != null) {
            receiver.accept(newest);
        }
    }

    private void receive(@Nullable RawValue payload) {
        try {
            SubagentReport report = payload == null
                    ? null
                    : PayloadJson.MAPPER.readValue(
                            payload.getPayload().getData().toByteArray(), SubagentReport.class);
            if (report != null) {
                deliver(report);
            }
        } catch (IOException e) {
            // Not from a thread. An exception in a signal handler would fail every workflow task from now on.
        }
    }

    void deliver(SubagentReport report) {
        Consumer<SubagentProgress> receiver = receivers.get(report.callId());
        if (receiver == null) {
            early.remove(report.callId());
            early.put(report.callId(), report.report());
            if (early.size() > MOST_EARLY) {
                early.remove(early.keySet().iterator().next());
            }
        } else {
            receiver.accept(report.report());
        }
    }
}
