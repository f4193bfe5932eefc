package dev.waymark.rehearsal.gate;

import dev.waymark.history.HistoryAudit;
import dev.waymark.history.HistoryFinding;
import dev.waymark.history.ThreadHistory;
import dev.waymark.worker.workflow.AgentReplay;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Replays and projects threads with this build, one after the other, and checks that their agents still exist and
 * have the same tools. An
 * instance runs once.
 */
public final class Gate implements AutoCloseable {
    /**
     * A thread is checked again if it may have progressed between the query of its workflow and reading its history.
     */
    private static final int ATTEMPTS = 3;

    private final ThreadSource source;
    private final Optional<AgentFiles> agents;
    private final AcceptedFindings known;
    private final Listener listener;
    private final AgentReplay replay = new AgentReplay();
    private final HistoryAudit audit = new HistoryAudit(replay);
    private final List<GateReport.Finding> findings = new ArrayList<>();
    private final List<GateReport.Finding> accepted = new ArrayList<>();
    private int threads;
    private int checked;
    private long events;
    private boolean live;

    /**
     * @param agents the agents to check; if empty, only the build is checked
     * @param known findings that do not fail the gate
     */
    public Gate(ThreadSource source, Optional<AgentFiles> agents, AcceptedFindings known, Listener listener) {
        this.source = source;
        this.agents = agents;
        this.known = known;
        this.listener = listener;
    }

    /** Receives progress and findings as they happen. */
    public interface Listener {
        void checked(int threads, int of);

        /** Called for findings that are not accepted. */
        void found(GateReport.Finding finding);
    }

    /**
     * Checks the threads of the source.
     *
     * @param most the maximum number of threads to check
     */
    public GateReport check(int most) {
        ThreadSource checking = checking();
        List<String> chosen = ThreadSource.sample(checking.names(), most);
        for (String name : chosen) {
            checking.read(name);
            listener.checked(checked, chosen.size());
        }
        return report();
    }

    /** The threads of the source. Each thread is checked when it is read. */
    public ThreadSource checking() {
        return new ThreadSource() {
            @Override
            public List<String> names() {
                List<String> names = source.names();
                threads = names.size();
                return names;
            }

            @Override
            public Optional<ThreadHistory> read(String name) {
                Optional<Checked> result = check(name);
                result.ifPresent(thread -> take(name, thread));
                checked++;
                return result.map(Checked::history);
            }

            @Override
            public Optional<HistoryAudit.Live> live(String name) {
                return source.live(name);
            }

            @Override
            public PinnedThreads pinned() {
                return source.pinned();
            }
        };
    }

    /** The findings in the threads that were read. */
    public GateReport report() {
        List<String> problems = agents.map(AgentFiles::problems).orElse(List.of());
        return new GateReport(
                findings.isEmpty() && problems.isEmpty(),
                threads,
                checked,
                events,
                live,
                findings,
                accepted,
                source.pinned().held(),
                problems);
    }

    private void take(String name, Checked thread) {
        thread.audited().findings().stream()
                .filter(finding -> finding.kind() != HistoryFinding.Kind.NONDETERMINISM
                        || !source.pinned().contain(name))
                .forEach(finding -> found(GateReport.Finding.of(name, finding)));
        agents.ifPresent(files -> files.findings(name, thread.audited()).forEach(this::found));
        events += thread.audited().events();
        live |= thread.live();
    }

    private void found(GateReport.Finding finding) {
        if (known.contain(finding)) {
            accepted.add(finding);
        } else {
            findings.add(finding);
            listener.found(finding);
        }
    }

    private record Checked(ThreadHistory history, HistoryAudit.Audited audited, boolean live) {}

    /** Checks a thread. Returns empty if the thread no longer exists. */
    private Optional<Checked> check(String name) {
        Optional<Checked> result = Optional.empty();
        for (int i = 0; i < ATTEMPTS; i++) {
            Optional<HistoryAudit.Live> report = source.live(name);
            result = source.read(name)
                    .map(thread -> new Checked(thread, audit.audit(thread, report), report.isPresent()));
            if (result.isEmpty() || !mayHaveProgressed(result.get())) {
                break;
            }
        }
        return result;
    }

    private static boolean mayHaveProgressed(Checked checked) {
        List<HistoryFinding> findings = checked.audited().findings();
        return checked.live()
                && !findings.isEmpty()
                && findings.stream().allMatch(finding -> finding.kind() == HistoryFinding.Kind.PROJECTION);
    }

    @Override
    public void close() {
        replay.close();
    }
}
