package dev.waymark.starter.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.RuleTrial;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.WordSource;
import dev.waymark.display.SafeText;
import dev.waymark.starter.options.Ages;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.SlowProgress;
import dev.waymark.starter.render.CallText;
import dev.waymark.starter.render.Output;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import dev.waymark.tool.ToolArguments;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.RUN_AGENTS,
        examples = {"policy assistant --call charge_card '{\"amount\":7}'", "policy assistant --since 30d"})
@Command(
        name = "policy",
        description = {
            "Shows what the approval rules of an agent file say, without running anything.",
            "With --call, about one call. With --since, about every recorded call of the agent's threads: lists the calls"
                    + " that would now be decided differently, and how people decided them. Does not call judges in Java."
        })
public final class PolicyCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Mixin
    private AgentLookup agent;

    @Option(
            names = "--call",
            paramLabel = "NAME",
            description = "Ask about a call of this tool with the JSON arguments.")
    private @Nullable String call;

    @Option(names = "--owner", paramLabel = "SUBJECT", description = "With --call: the owner of the thread.")
    private @Nullable String owner;

    @Option(
            names = "--requested",
            paramLabel = "N",
            defaultValue = "1",
            description = "With --call: which request of the tool in its thread this is. Default: 1.")
    private int requested;

    @Option(names = "--usd", paramLabel = "N", description = "With --call: what the thread has spent. Default: 0.")
    private @Nullable BigDecimal usd;

    @Option(names = "--tokens", paramLabel = "N", description = "With --call: the tokens that the thread has used.")
    private long tokens;

    @Option(
            names = "--untrusted",
            paramLabel = "WHEN",
            description =
                    "With --call: the model has read untrusted words: ever, or since_message. Default: it has not.")
    private ApprovalRule.@Nullable Untrusted untrusted;

    @Option(
            names = "--since",
            paramLabel = "AGE",
            converter = Ages.class,
            description = "Read threads that are open or were started in this time, such as 30d or 12h.")
    private @Nullable Duration since;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "1000",
            description = "With --since: read at most this many threads, newest first. Default: 1000.")
    private int limit;

    @Spec
    private CommandSpec spec;

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Said(String tool, CallVerdict verdict) {}

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Tried(
            int threads,
            int calls,
            List<RuleTrial.Difference> differences,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) long notKnown) {}

    @Override
    public Integer call() throws Exception {
        WorkerLog.toStderr(output.isVerbose());
        if ((call == null) == (since == null)) {
            throw new ParameterException(spec.commandLine(), "use either --call NAME or --since AGE");
        }
        if (limit < 1) {
            throw new ParameterException(spec.commandLine(), "--limit must be at least 1");
        }
        return agent.find(agents, call, output, (found, setup, kinds) -> call == null ? tryOut(found) : ask(found));
    }

    private int ask(AgentSpec found) throws Exception {
        ToolSpec tool = AgentLookup.tool(found, String.valueOf(call));
        Json given = agent.arguments();
        Optional<String> problem = ToolArguments.problem(tool.input(), given);
        if (problem.isPresent()) {
            output.note("The model would be told that these arguments are invalid, and no rule would be asked: "
                    + SafeText.line(problem.get()));
        }
        Spent spent = new Spent(
                new Usage(tokens, 0),
                Optional.ofNullable(usd)
                        .or(() -> tokens == 0 ? Optional.of(BigDecimal.ZERO) : Optional.empty())
                        .map(Usd::of));
        CallVerdict verdict = RuleCheck.verdict(
                tool,
                new JudgedCall(
                        tool.name(),
                        given,
                        Optional.ofNullable(owner),
                        spent,
                        requested,
                        Instant.now(),
                        Optional.of(read())));
        if (output.isJson()) {
            output.document(new Said(tool.name(), verdict));
        } else {
            output.line(SafeText.line(verdict.then().wireName() + ": " + verdict.words()));
        }
        return ExitCode.DONE;
    }

    private UntrustedWords read() {
        WordSource source = WordSource.CONVERSATION;
        return untrusted == null
                ? UntrustedWords.NONE
                : untrusted == ApprovalRule.Untrusted.EVER
                        ? UntrustedWords.NONE.from(source).afterMessage()
                        : UntrustedWords.NONE.from(source);
    }

    private int tryOut(AgentSpec found) {
        try (AgentClient client = SaverOptions.reader()) {
            List<RuleTrial.Result> results =
                    client.lists().tryRules(found, Instant.now().minus(since), limit, new SlowProgress(output));
            List<RuleTrial.Difference> differences = results.stream()
                    .flatMap(result -> result.differences().stream())
                    .toList();
            int calls = results.stream().mapToInt(RuleTrial.Result::calls).sum();
            long notKnown = results.stream().filter(RuleTrial.Result::notKnown).count();
            if (output.isJson()) {
                output.document(new Tried(results.size(), calls, differences, notKnown));
                return ExitCode.DONE;
            }
            differences.forEach(this::print);
            output.note(results.size() + " threads of " + found.name() + ", " + calls + " calls, " + differences.size()
                    + " would be decided differently");
            if (notKnown > 0) {
                output.note(notKnown + " of the threads do not know what untrusted words they read: their agent had no"
                        + " untrusted tools. Their calls of tools with when_untrusted were left out.");
            }
            return ExitCode.DONE;
        }
    }

    private void print(RuleTrial.Difference difference) {
        output.line(SafeText.line(difference.thread()) + "  " + SafeText.line(difference.callId()) + "  "
                + SafeText.line(difference.tool()) + " "
                + SafeText.json(difference.args().shortened(500).canonical()));
        output.line("  was " + difference.then().wireName() + ", "
                + difference.decided().map(CallText::words).orElse("nobody decided") + ", " + difference.status());
        output.line("  now " + difference.now().then().wireName() + ": "
                + SafeText.line(difference.now().words()));
    }
}
