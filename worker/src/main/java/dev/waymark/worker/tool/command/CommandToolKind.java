package dev.waymark.worker.tool.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.Sandbox;
import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolPrograms;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.tool.kind.UnknownDefinitionException;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.List;
import java.util.Optional;

/** Tools that are programs: {@code command: [./charge.sh]}. */
public final class CommandToolKind implements ToolKind<ToolImplementation.Command> {
    private static final int QUESTION = 10;

    /**
     * Each call takes a handful of processes; above this number, starting them in parallel is slower than in sequence.
     */
    private static final int SLOTS = 64;

    private final ToolPrograms programs;

    public CommandToolKind(ToolPrograms programs) {
        this.programs = programs;
    }

    @Override
    public int slots() {
        return SLOTS;
    }

    @Override
    public Optional<String> field() {
        return Optional.of("command");
    }

    @Override
    public ToolSpec.Builder read(YamlValue value, ToolEntry entry) throws YamlProblem {
        Optional<Sandbox> sandbox = entry.fields()
                .read("sandbox", given -> SandboxFields.read(given, entry.directory()))
                .flatMap(read -> read);
        List<String> program = ToolEntry.program(value, entry.directory());
        ToolSpec.Builder tool = ToolSpec.command(entry.name(), program.toArray(String[]::new));
        sandbox.ifPresent(tool::sandbox);
        return tool;
    }

    @Override
    public Optional<ToolOutcome> problem(ToolImplementation.Command command, ToolSpec tool, Json args) {
        return Optional.empty();
    }

    @Override
    public ToolOutcome run(ToolImplementation.Command command, ToolRun run) throws InterruptedException {
        CommandResult result = programs.run(run, command.program());
        if (result instanceof CommandResult.Killed killed) {
            return Effect.UNKNOWN.outcome(killed.words());
        }
        if (result instanceof CommandResult.NotStarted none) {
            return none.late() ? run.notStarted(none.why()) : Effect.NOT_DONE.outcome(none.why());
        }
        return outcome((CommandResult.Exited) result);
    }

    @Override
    public Optional<String> definition(ToolImplementation.Command command, ToolSpec tool, ProcessFence fence)
            throws UnknownDefinitionException {
        return Optional.of(programs.digest(command.program()));
    }

    private static ToolOutcome outcome(CommandResult.Exited exited) {
        if (exited.code() == QUESTION) {
            return question(exited.stdout())
                    .map(ToolOutcome::question)
                    .orElseGet(() -> Effect.OWN_ERROR.outcome(exited.complaining(
                            "exit code 10 asks a question, but stdout is not {\"question\": \"…\"}")));
        }
        Effect effect = Effect.ofExitCode(exited.code());
        return effect.outcome(effect == Effect.DONE ? exited.stdout() : exited.words());
    }

    private static Optional<String> question(String stdout) {
        try {
            JsonNode question = PayloadJson.MAPPER.readTree(stdout).path("question");
            return question.isTextual() && !question.textValue().isBlank()
                    ? Optional.of(InlineText.of(question.textValue()))
                    : Optional.empty();
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    @Override
    public VerifyOutcome verify(ToolRun run) throws InterruptedException {
        return programs.verify(run);
    }
}
