package dev.waymark.worker.tool.skill;

import dev.waymark.agent.Skills;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;

/** The tool {@code read_skill} of agents with skills. */
public final class SkillToolKind implements ToolKind<Skills> {
    private static final int SHORT_DIGEST = 12;

    private final Path directory;

    /** @param directory the base of relative paths of skills */
    public SkillToolKind(Path directory) {
        this.directory = directory;
    }

    @Override
    public Optional<ToolOutcome> problem(Skills skills, ToolSpec tool, Json args) {
        String name = args.get("name").asText();
        return skills.find(name).isPresent()
                ? Optional.empty()
                : Optional.of(Effect.NOT_DONE.outcome("no skill " + name + ". Your skills: "
                        + skills.found().stream().map(Skills.Skill::name).collect(Collectors.joining(", "))));
    }

    @Override
    public ToolOutcome run(Skills skills, ToolRun run) {
        Skills.Skill skill = skills.find(run.args().get("name").asText()).orElseThrow();
        try {
            Path path = directory.resolve(skill.folder()).normalize();
            if (Files.isSymbolicLink(path) && !skills.folders().contains(skill.folder())) {
                throw new SkillProblem("the folder of the skill is now a link, which is not followed");
            }
            SkillFolder folder = SkillFolder.at(path);
            boolean hasPath = run.args().field("path") instanceof String given && !given.isBlank();
            String text = folder.text(hasPath ? run.args().get("path").asText() : SkillFolder.MAIN);
            String digest = folder.digest();
            return Effect.DONE.outcome(
                    digest.equals(skill.digest())
                            ? text
                            : "[The skill has changed since this thread began: its digest was "
                                    + skill.digest().substring(0, SHORT_DIGEST) + " and is "
                                    + digest.substring(0, SHORT_DIGEST) + ". This is the present text.]\n" + text);
        } catch (SkillProblem e) {
            return Effect.NOT_DONE.outcome(e.words());
        }
    }

    @Override
    public VerifyOutcome verify(ToolRun run) {
        throw new IllegalStateException("reading a skill is never claimed, and so never lost: "
                + run.tool().name());
    }
}
