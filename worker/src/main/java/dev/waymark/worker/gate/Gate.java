package dev.waymark.worker.gate;

import dev.waymark.history.HistoryAudit;
import dev.waymark.history.HistoryFinding;
import dev.waymark.worker.workflow.AgentReplay;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Replays and projects threads with this build, one after the other, and checks that their agents still exist. */
public final class Gate {
    /**
     * A thread is checked again if it may have progressed between the query of its workflow and reading its history.
     */
    private static final int ATTEMPTS = 3;

    private final ThreadSource source;
    private final Optional<AgentFiles> agents;
    private final Listener listener;

    /** @param agents the agents to check; if empty, only the build is checked */
    public Gate(ThreadSource source, Optional<AgentFiles> agents, Listener listener) {
        this.source = source;
        this.agents = agents;
        this.listener = listener;
    }

    /** Receives progress and findings as they happen. */
    public interface Listener {
        void checked(int threads, int of);

        void found(GateReport.Finding finding);
    }

    /**
     * Checks the threads of the source.
     *
     * @param build the version of this build, for the report
     * @param most the maximum number of threads to check
     */
    public GateReport check(String build, int most) {
        List<String> all = source.names();
        List<String> chosen = ThreadSource.sample(all, most);
        List<GateReport.Finding> findings = new ArrayList<>();
        Consumer<GateReport.Finding> found = finding -> {
            findings.add(finding);
            listener.found(finding);
        };
        long events = 0;
        int checked = 0;
        boolean live = false;
        try (AgentReplay replay = new AgentReplay()) {
            HistoryAudit audit = new HistoryAudit(replay);
            for (String name : chosen) {
                Optional<Checked> result = check(name, audit);
                if (result.isPresent()) {
                    HistoryAudit.Audited audited = result.get().audited();
                    audited.findings().forEach(finding -> found.accept(GateReport.Finding.of(name, finding)));
                    agents.flatMap(files -> audited.agent().flatMap(agent -> files.finding(name, agent)))
                            .ifPresent(found);
                    events += audited.events();
                    live |= result.get().live();
                }
                listener.checked(++checked, chosen.size());
            }
        }
        List<String> problems = agents.map(AgentFiles::problems).orElse(List.of());
        return new GateReport(
                findings.isEmpty() && problems.isEmpty(), build, all.size(), checked, events, live, findings, problems);
    }

    private record Checked(HistoryAudit.Audited audited, boolean live) {}

    /** Checks a thread. Returns empty if the thread no longer exists. */
    private Optional<Checked> check(String name, HistoryAudit audit) {
        Optional<Checked> checked = Optional.empty();
        for (int i = 0; i < ATTEMPTS; i++) {
            Optional<HistoryAudit.Live> live = source.live(name);
            checked = source.read(name).map(thread -> new Checked(audit.audit(thread, live), live.isPresent()));
            if (checked.isEmpty() || !mayHaveMoved(checked.get())) {
                break;
            }
        }
        return checked;
    }

    private static boolean mayHaveMoved(Checked checked) {
        List<HistoryFinding> findings = checked.audited().findings();
        return checked.live()
                && !findings.isEmpty()
                && findings.stream().allMatch(finding -> finding.kind() == HistoryFinding.Kind.PROJECTION);
    }
}
