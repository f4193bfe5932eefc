package dev.waymark.rehearsal.gate;

import dev.waymark.agent.AgentSpec;
import dev.waymark.history.HistoryAudit;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.agents.AgentInvalid;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The agents of a directory as the gate sees them, or the reasons why a worker would reject the directory. */
public final class AgentFiles {
    private static final String SUFFIX = ".yaml";

    private final Optional<Map<String, AgentSpec>> agents;

    /** The first problem of each file, by the file's name without its suffix, which is the agent's name by default. */
    private final Map<String, String> invalid;

    private AgentFiles(Optional<Map<String, AgentSpec>> agents, Map<String, String> invalid) {
        this.agents = agents;
        this.invalid = invalid;
    }

    public static AgentFiles of(AgentDirectory agents) {
        return new AgentFiles(Optional.of(agents.agents()), Map.of());
    }

    public static AgentFiles invalid(AgentInvalid problem) {
        List<String> all = new ArrayList<>(List.of(String.valueOf(problem.getMessage())));
        all.addAll(problem.others());
        Map<String, String> invalid = new LinkedHashMap<>();
        for (String each : all) {
            String file = Path.of(each.replaceFirst(":\\d+:.*(?s).*", ""))
                    .getFileName()
                    .toString();
            String name = file.endsWith(SUFFIX) ? file.substring(0, file.length() - SUFFIX.length()) : file;
            invalid.putIfAbsent(name, each);
        }
        return new AgentFiles(Optional.empty(), invalid);
    }

    /** Returns why a worker would not start with these files: the first problem of each invalid file. */
    public List<String> problems() {
        return List.copyOf(invalid.values());
    }

    /** Returns the problems that an audited thread would have with these files. */
    List<GateReport.Finding> findings(String thread, HistoryAudit.Audited audited) {
        if (audited.agent().isEmpty()) {
            return List.of();
        }
        String agent = audited.agent().get();
        String problem = invalid.get(agent);
        if (problem != null) {
            return List.of(GateReport.Finding.ofAgent(thread, "agent-invalid", problem));
        }
        if (agents.isEmpty()) {
            return List.of();
        }
        AgentSpec now = agents.get().get(agent);
        return now == null
                ? List.of(GateReport.Finding.ofAgent(
                        thread, "agent-missing", "no agent of this name in the directory: " + agent))
                : audited.open()
                        .map(open -> ToolChanges.findings(thread, open, now))
                        .orElse(List.of());
    }
}
