package dev.waymark.worker.tool.skill;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Skills;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds skills in the folders that agents name, and checks them against the open format. */
public final class SkillFolders {
    /** The maximum number of skills of an agent, whose descriptions are in every prompt. */
    public static final int MOST_SKILLS = 50;

    private static final int LONGEST_NAME = 64;
    private static final int LONGEST_DESCRIPTION = 1024;
    private static final Pattern NAME = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*");
    /** Spaces, all line separators, control characters, and surrogates, which UTF-8 cannot encode. */
    private static final Pattern NO_CHARACTERS = Pattern.compile("[\\s\\p{Z}\\p{Cc}\\p{Cs}]+");

    private static final Pattern FRONT_MATTER =
            Pattern.compile("\\uFEFF?---[ \\t]*\\r?\\n(.*?)^---[ \\t]*\\r?$", Pattern.DOTALL | Pattern.MULTILINE);

    private SkillFolders() {}

    /**
     * Returns the agent with the present skills of its folders; the agent itself if it names none.
     *
     * @param directory the base of relative paths
     * @throws IllegalArgumentException with all problems of the skills
     */
    public static AgentSpec read(AgentSpec agent, Path directory) {
        Optional<Skills> skills = agent.skills();
        if (skills.isEmpty()) {
            return agent;
        }
        List<Skills.Skill> found = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<String> folders = skills.get().folders();
        folders.forEach(folder -> problems.addAll(find(directory, folder, found)));
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("agent " + agent.name() + ": skills: " + String.join("; ", problems));
        }
        return agent.with().skills(new Skills(folders, found)).build();
    }

    /**
     * Adds the skills of a folder, or the one that the folder is, to those found before.
     *
     * @return the problems of these skills
     */
    public static List<String> find(Path directory, String folder, List<Skills.Skill> found) {
        List<String> problems = new ArrayList<>();
        Path path;
        try {
            path = directory.resolve(folder).normalize();
        } catch (InvalidPathException e) {
            return List.of("not a path");
        }
        List<Path> entries;
        try (Stream<Path> all = Files.list(path)) {
            entries = hasMain(path)
                    ? List.of(path)
                    : all.filter(SkillFolders::hasMain).sorted().toList();
        } catch (IOException e) {
            return List.of("no such folder: " + path);
        }
        if (entries.isEmpty()) {
            problems.add("no skills in " + path + ": a skill is a folder with a file " + SkillFolder.MAIN);
        }
        if (found.size() + entries.size() > MOST_SKILLS) {
            return List.of("more than " + MOST_SKILLS + " skills");
        }
        for (Path entry : entries) {
            if (entry != path && Files.isSymbolicLink(entry)) {
                problems.add(entry + " is a link. Name the folder where it leads");
                continue;
            }
            try {
                Skills.Skill skill = skill(entry, entry == path ? folder : within(folder, entry));
                Optional<Skills.Skill> other = found.stream()
                        .filter(known -> known.name().equals(skill.name()))
                        .findFirst();
                other.ifPresent(known -> problems.add(
                        skill.folder() + " and " + known.folder() + " have the same name, " + skill.name()));
                found.add(skill);
            } catch (YamlProblem e) {
                Stream.concat(Stream.of(e), e.others().stream())
                        .forEach(problem -> problems.add(String.valueOf(problem.getMessage())));
            }
        }
        return problems;
    }

    /** Nothing before a slash would be the root. */
    private static String within(String folder, Path entry) {
        return (folder.isEmpty() ? "" : folder + "/") + entry.getFileName();
    }

    private static boolean hasMain(Path folder) {
        return Files.exists(folder.resolve(SkillFolder.MAIN), LinkOption.NOFOLLOW_LINKS);
    }

    private static Skills.Skill skill(Path path, String folder) throws YamlProblem {
        String file = path.resolve(SkillFolder.MAIN).toString();
        try {
            SkillFolder files = SkillFolder.at(path);
            Matcher text = FRONT_MATTER.matcher(files.text(SkillFolder.MAIN));
            if (!text.lookingAt()) {
                throw new YamlProblem(file, 1, "", "expected fields between two lines ---");
            }
            YamlFields fields = YamlValue.parse(file, "\n" + text.group(1)).fields();
            String own = String.valueOf(path.toAbsolutePath().normalize().getFileName());
            YamlProblems problems = new YamlProblems();
            problems.run(() -> checkName(fields.require("name"), own));
            Optional<String> description = problems.check(() -> description(fields.require("description")));
            problems.end();
            return new Skills.Skill(own, description.orElseThrow(), folder, files.digest());
        } catch (SkillProblem e) {
            throw new YamlProblem(file, 1, "", e.words());
        }
    }

    private static void checkName(YamlValue value, String folder) throws YamlProblem {
        String name = value.text();
        if (name.length() > LONGEST_NAME || !NAME.matcher(name).matches()) {
            throw value.problem("a skill's name has 1 to " + LONGEST_NAME
                    + " characters a-z 0-9 and single hyphens, found " + name);
        }
        if (!name.equals(folder)) {
            throw value.problem("expected the name of its folder, " + folder + ", found " + name);
        }
    }

    /** One line, so that a description cannot look like another skill or other instructions. */
    private static String description(YamlValue value) throws YamlProblem {
        String words = NO_CHARACTERS.matcher(value.words()).replaceAll(" ").strip();
        if (words.isEmpty()) {
            throw value.problem("is empty");
        }
        int length = words.codePointCount(0, words.length());
        if (length > LONGEST_DESCRIPTION) {
            throw value.problem("too long: " + length + " characters, at most " + LONGEST_DESCRIPTION);
        }
        return words;
    }
}
