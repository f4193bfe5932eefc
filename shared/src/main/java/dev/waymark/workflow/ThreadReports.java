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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Hands the reports of threads to the workflow that started them. A workflow has one handler of a signal. */
final class ThreadReports {
    private static final WorkflowLocal<ThreadReports> OF_WORKFLOW = WorkflowLocal.withCachedInitial(() -> {
        ThreadReports reports = new ThreadReports();
        Workflow.registerListener((Listener) reports::receive);
        return reports;
    });

    private final Map<String, Consumer<SubagentProgress>> receivers = new LinkedHashMap<>();
    /** Reports that arrived before their receiver listened. */
    private final List<SubagentReport> early = new ArrayList<>();

    private ThreadReports() {}

    /** The signal of the threads. Public, because the SDK calls it by reflection. */
    public interface Listener {
        @SignalMethod(name = SignalNames.SUBAGENT, description = "A thread reports to this workflow.")
        void report(RawValue payload);
    }

    /** From now on, and for the reports so far, hands the reports of this thread to this receiver. */
    static void listen(String thread, Consumer<SubagentProgress> receiver) {
        ThreadReports reports = OF_WORKFLOW.get();
        reports.receivers.put(thread, receiver);
        List<SubagentReport> all = List.copyOf(reports.early);
        reports.early.clear();
        all.forEach(reports::deliver);
    }

    private void receive(RawValue payload) {
        try {
            deliver(PayloadJson.MAPPER.readValue(payload.getPayload().getData().toByteArray(), SubagentReport.class));
        } catch (IOException e) {
            // Not from a thread. An exception in a signal handler would fail every workflow task from now on.
        }
    }

    private void deliver(SubagentReport report) {
        Consumer<SubagentProgress> receiver = receivers.get(report.callId());
        if (receiver == null) {
            early.add(report);
        } else {
            receiver.accept(report.report());
        }
    }
}
