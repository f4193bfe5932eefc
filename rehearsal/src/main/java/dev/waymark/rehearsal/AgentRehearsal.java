package dev.waymark.rehearsal;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.Usd;
import dev.waymark.extension.WorkerExtension;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.HistoryRehearsal;
import dev.waymark.history.ThreadHistory;
import dev.waymark.rehearsal.gate.FileThreads;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.tool.Tool;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.payload.codec.PayloadCodec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** Rehearses threads for tests, with the environment and the extensions of this process. */
public final class AgentRehearsal implements HistoryRehearsal {
    /** The directory of kept answers, the same one as that of the command. */
    public static final Path DIRECTORY = Path.of(".waymark", "rehearsals");

    @Override
    public List<String> problems(Path file, Settings settings, InJava inJava) throws Exception {
        Path directory =
                Objects.requireNonNull(file.toAbsolutePath().normalize().getParent());
        Map<String, String> variables = ProcessEnvironment.get();
        String namespace = Connection.namespace(variables);
        Optional<PayloadCodec> codec = Connection.codec(variables);
        FileThreads files = new FileThreads(directory, thread -> thread.decoded(codec, namespace));
        String name = file.getFileName().toString();
        Optional<List<Check>> expected =
                Optional.ofNullable(Check.besideThreads(directory).get(name));
        List<FailCondition> conditions = settings.failOn().isEmpty()
                ? Stream.of("changed", "checks")
                        .skip(expected.isPresent() ? 1 : 0)
                        .map(FailCondition::parse)
                        .toList()
                : settings.failOn().stream().map(FailCondition::parse).toList();
        RehearsalSettings chosen = RehearsalSettings.DEFAULT
                .withAllowedProviders(settings.allowedProviders())
                .withExpected(expected.map(checks -> Map.of(name, checks)).orElse(Map.of()));
        Candidate candidate = candidate(settings.agents(), inJava, variables);
        AnswerStore answers =
                new AnswerStore(DIRECTORY.resolve("answers"), codec.map(keys -> new AnswerStore.Keys(keys, namespace)));
        Rehearsal rehearsal = new Rehearsal(
                List.of(candidate), chosen, Optional.empty(), answers, new Spending(Usd.of(settings.mostUsd())));
        try {
            RehearsalReport report = rehearsal.run(new OneThread(files, name), 1, (part, decided) -> {});
            return problems(RolloutReport.of(Optional.empty(), report, conditions, true), report);
        } catch (Rehearsal.JudgeMissing e) {
            return List.of(e.getMessage() + ": use waymark rehearse --judge");
        }
    }

    private static Candidate candidate(Path agents, InJava inJava, Map<String, String> variables) throws Exception {
        List<WorkerExtension> extensions = ServiceLoader.load(WorkerExtension.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        ModelProviders providers =
                ModelProviders.from(variables, agents, extensions).plus(inJava.providers());
        List<Tool> tools = extensions.stream()
                .flatMap(extension -> extension.tools(variables).stream())
                .toList();
        boolean isAbsent = !inJava.agents().isEmpty() && !Files.isDirectory(agents);
        return new Candidate(
                isAbsent ? "agents in Java" : agents.toString(),
                Optional.of(
                        isAbsent
                                ? AgentDirectory.of(Path.of("."), List.of()).plus(inJava.agents())
                                : AgentDirectory.load(agents, providers, JavaTools.of(tools), inJava.agents())),
                providers,
                isAbsent ? Map.of() : Check.in(agents),
                Optional.empty());
    }

    private static List<String> problems(RolloutReport rollout, RehearsalReport report) {
        List<String> problems = new ArrayList<>();
        if (rollout.passed()) {
            return problems;
        }
        problems.addAll(rollout.failures());
        for (RehearsalReport.OfCandidate of : report.candidates()) {
            report.lacks(of).ifPresent(problems::add);
            of.shownChecks().forEach(failed -> problems.add("check " + failed.check() + " fails: " + failed.reason()));
            for (RehearsalReport.Shown shown : of.shown()) {
                problems.add(shown.place() + ": " + ReportText.changes(shown));
                ReportText.lines(shown).forEach(line -> problems.add(line.toString()));
            }
        }
        return problems;
    }

    private record OneThread(ThreadSource all, String name) implements ThreadSource {
        @Override
        public List<String> names() {
            return List.of(name);
        }

        @Override
        public Optional<ThreadHistory> read(String thread) {
            return all.read(thread);
        }

        @Override
        public Optional<HistoryAudit.Live> live(String thread) {
            return Optional.empty();
        }
    }
}
