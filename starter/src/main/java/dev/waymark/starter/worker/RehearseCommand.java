package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usd;
import dev.waymark.rehearsal.AgentRehearsal;
import dev.waymark.rehearsal.AnswerStore;
import dev.waymark.rehearsal.Candidate;
import dev.waymark.rehearsal.Check;
import dev.waymark.rehearsal.FailCondition;
import dev.waymark.rehearsal.JudgeModel;
import dev.waymark.rehearsal.Rehearsal;
import dev.waymark.rehearsal.RehearsalReport;
import dev.waymark.rehearsal.RehearsalSettings;
import dev.waymark.rehearsal.RolloutReport;
import dev.waymark.rehearsal.ScriptedResults;
import dev.waymark.rehearsal.Spending;
import dev.waymark.rehearsal.gate.AcceptedFindings;
import dev.waymark.rehearsal.gate.AgentFiles;
import dev.waymark.rehearsal.gate.Gate;
import dev.waymark.rehearsal.gate.GateReport;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@HelpEntry(
        group = CommandGroup.ROLL_OUT,
        examples = {
            "rehearse --since 7d --sample 50 --agents new-agents --html report.html",
            "rehearse trip --recorded --model anthropic:claude-haiku-4-5",
            "rehearse --histories recorded --fail-on 'changed > 5%' --fail-on asked-more",
            "rehearse --gate --agents new-agents --sample 50"
        })
@Command(
        name = "rehearse",
        description = {
            "Asks agents what they would reply now at every reply of recorded threads, and compares.",
            "Each model call of a thread is repeated with the same conversation, and with the prompt, model,"
                    + " tools and rules to try. Calls only models: no tool runs, and nothing is written to"
                    + " the server. Answers are kept, so that a second run is free and a killed one continues. Exits"
                    + " with 1 if a condition of --fail-on holds, or if an answer is missing."
        })
public final class RehearseCommand implements Callable<Integer> {
    private static final Duration SINCE = Duration.ofDays(7);
    private static final Path DIRECTORY = AgentRehearsal.DIRECTORY;
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(2);

    @Mixin
    private Output output;

    @Mixin
    private CandidateOptions candidates;

    @Mixin
    private ThreadsOptions threads;

    @Mixin
    private ReportOptions reports;

    @Option(
            names = "--from",
            paramLabel = "V",
            description = "With one thread: begin with the reply that led to this version, or at this event, such as"
                    + " RUN/e42.")
    private @Nullable String from;

    @Option(
            names = "--votes",
            paramLabel = "N",
            defaultValue = "1",
            description = "Ask N times at each reply, for models that vary. Most votes decide. Default: 1.")
    private int votes;

    @Option(
            names = "--parallel",
            paramLabel = "N",
            defaultValue = "4",
            description = "Ask no more than N times at once. Default: 4.")
    private int parallel;

    @Option(
            names = "--max-usd",
            paramLabel = "N",
            defaultValue = "5",
            description = "Spend no more than N dollars, including the cost of kept answers. Default: 5.")
    private BigDecimal ceiling;

    @Option(
            names = "--allow-provider",
            paramLabel = "NAME",
            description = "Send conversations to this provider even if their threads did not use it.")
    private Set<String> allowedProviders = Set.of();

    @Option(
            names = "--continue",
            paramLabel = "N",
            defaultValue = "0",
            description = "Continue from each reply that differs, in memory, with up to N more replies. Calls get"
                    + " their recorded results; a call without one ends the continuation. Default: 0.")
    private int continued;

    @Option(
            names = "--results",
            paramLabel = "FILE",
            description = "With --continue: a YAML file with results for calls that the thread did not record.")
    private @Nullable Path results;

    @Option(
            names = "--judge",
            paramLabel = "PROVIDER:MODEL",
            description =
                    "Ask this model whether different texts have the same meaning, and for checks that are judged.")
    private @Nullable String judge;

    @Option(names = "--decrypt", description = "Show texts of encrypted threads in the report.")
    private boolean decrypt;

    @Option(
            names = "--gate",
            description = "Also check, like gate, that this build and the agents can continue the threads.")
    private boolean gated;

    @Mixin
    private AcceptOptions accept;

    @Option(
            names = "--fail-on",
            paramLabel = "CONDITION",
            description = "Exit with 1 if this holds: changed, near, asked-more, allowed-more, denied-more, refused,"
                    + " checks, cost or tokens, optionally with a limit such as 'changed > 5%%'. Can be repeated.")
    private List<String> failOn = List.of();

    @Option(
            names = "--answers",
            paramLabel = "DIR",
            description = "Where answers are kept. Default: .waymark/rehearsals.")
    private Path directory = DIRECTORY;

    @Override
    public Integer call() throws Exception {
        check();
        if (gated) {
            GateCommand.log(output);
        } else {
            WorkerLog.toStderr(output.isVerbose());
        }
        Map<String, List<Check>> expected = threads.expected();
        List<FailCondition> conditions = conditions(!expected.isEmpty());
        RehearsalSettings settings = settings(expected);
        List<Candidate> all = candidates.read();
        Optional<JudgeModel> judging = judge();
        if (!gated && accept.isSet()) {
            throw CommandFailure.badInput("--accept needs --gate", "Add --gate");
        }
        if (!gated) {
            return threads.read(
                    Optional.of(SINCE),
                    source -> rehearse(source, Optional.empty(), all, settings, judging, conditions));
        }
        Optional<AgentFiles> files = GateCommand.files(candidates.agents(), output);
        AcceptedFindings accepted = accept.read();
        return threads.read(Optional.of(SINCE), source -> {
            try (Gate gate = new Gate(source, files, accepted, new GateProgress(output))) {
                return rehearse(source, Optional.of(gate), all, settings, judging, conditions);
            }
        });
    }

    private RehearsalSettings settings(Map<String, List<Check>> expected) throws CommandFailure {
        return RehearsalSettings.DEFAULT
                .withVotes(votes)
                .withParallel(parallel)
                .withFrom(Optional.ofNullable(from))
                .withAllowedProviders(allowedProviders)
                .withContinued(continued)
                .withDecrypt(decrypt)
                .withExpected(expected)
                .withScriptedResults(scripted());
    }

    private ScriptedResults scripted() throws CommandFailure {
        try {
            return results == null ? ScriptedResults.NONE : ScriptedResults.read(results);
        } catch (YamlProblem e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT, ProblemType.RESULTS_INVALID, "invalid results: " + e.all(), "Fix the file");
        }
    }

    private void check() throws CommandFailure {
        threads.check();
        if (from != null && !threads.isOne()) {
            throw CommandFailure.badInput("--from needs one thread, by name", "Example: rehearse trip --from 3");
        }
        atLeastOne("--votes", votes);
        atLeastOne("--parallel", parallel);
        if (continued < 0) {
            throw CommandFailure.badInput("--continue is negative: " + continued, "Set it to 0 or more");
        }
        if (ceiling.signum() < 0) {
            throw CommandFailure.badInput(
                    "--max-usd is negative: " + ceiling, "Set it to the dollars to spend at most");
        }
    }

    private static void atLeastOne(String option, int value) throws CommandFailure {
        if (value < 1) {
            throw CommandFailure.badInput(option + " is not a positive number: " + value, "Set it to 1 or more");
        }
    }

    /** @param isExpected whether there are files with checks next to the threads, which must then hold */
    private List<FailCondition> conditions(boolean isExpected) throws CommandFailure {
        List<FailCondition> conditions = new ArrayList<>();
        for (String text : failOn) {
            try {
                conditions.add(FailCondition.parse(text));
            } catch (IllegalArgumentException e) {
                throw CommandFailure.badInput("--fail-on: " + e.getMessage(), "Example: --fail-on 'changed > 5%'");
            }
        }
        boolean isChecked =
                conditions.stream().anyMatch(condition -> condition.measure() == FailCondition.Measure.CHECKS);
        if (isExpected && !isChecked) {
            conditions.add(FailCondition.parse("checks"));
        }
        return conditions;
    }

    private Optional<JudgeModel> judge() throws IOException, CommandFailure {
        if (judge == null) {
            return Optional.empty();
        }
        ModelProviders providers = candidates.agents().providers();
        CandidateOptions.checkModel(providers, judge);
        ModelProviders.Bound bound = providers.find(judge).orElseThrow();
        if (bound.pricing().isEmpty()) {
            throw CommandFailure.badInput(
                    "no price is known for " + judge + ", which the ceiling needs", "Set it with --models FILE");
        }
        return Optional.of(new JudgeModel(judge, bound));
    }

    private int rehearse(
            ThreadSource source,
            Optional<Gate> gate,
            List<Candidate> all,
            RehearsalSettings settings,
            Optional<JudgeModel> judging,
            List<FailCondition> conditions)
            throws Exception {
        Optional<AnswerStore.Keys> keys = keys();
        Spending spending = new Spending(Usd.of(ceiling));
        AnswerStore answers = new AnswerStore(directory.resolve("answers"), keys);
        Rehearsal rehearsal = new Rehearsal(all, settings, judging, answers, spending);
        try {
            RehearsalReport report =
                    rehearsal.run(gate.map(Gate::checking).orElse(source), threads.most(), new Progress(rehearsal));
            output.note("waymark: asked " + rehearsal.asked() + " times, " + rehearsal.kept()
                    + " answers were kept; spent " + rehearsal.spent() + " of " + Usd.of(ceiling) + " USD");
            Optional<GateReport> checked = gate.map(Gate::report);
            return reports.report(
                    output,
                    RolloutReport.of(
                            checked, report, conditions, !settings.expected().isEmpty() || checked.isPresent()),
                    conditions);
        } catch (Rehearsal.ProviderNotAllowed e) {
            throw CommandFailure.badInput(
                    String.valueOf(e.getMessage()),
                    "If that provider may see the conversations, add --allow-provider " + e.provider());
        } catch (Rehearsal.JudgeMissing e) {
            throw CommandFailure.badInput(
                    String.valueOf(e.getMessage()),
                    "Name a model with --judge, such as --judge anthropic:claude-haiku-4-5");
        }
    }

    private static Optional<AnswerStore.Keys> keys() throws Exception {
        Map<String, String> variables = ProcessEnvironment.get();
        String namespace = Connection.namespace(variables);
        return Connection.codec(variables).map(codec -> new AnswerStore.Keys(codec, namespace));
    }

    /** Prints the progress of the rehearsal to stderr from time to time. */
    private final class Progress implements Rehearsal.Listener {
        private final Rehearsal rehearsal;
        private final long began = System.nanoTime();
        private long last = began;

        Progress(Rehearsal rehearsal) {
            this.rehearsal = rehearsal;
        }

        @Override
        public void rehearsed(double part, int decided) {
            long now = System.nanoTime();
            if (now - last < PROGRESS_NANOS) {
                return;
            }
            last = now;
            long left = (long) ((now - began) * (1 - part) / Math.max(part, 0.001));
            output.note("waymark: " + decided + " replies, about " + Math.round(100 * part) + " %, about "
                    + Math.max(1, TimeUnit.NANOSECONDS.toSeconds(left)) + " s left, spent " + rehearsal.spent()
                    + " USD");
        }
    }
}
