package dev.waymark.worker.tool.skill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.Skills;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SkillFoldersTest {
    private static final String MAIN = "---\nname: pdf\ndescription: Reads PDFs\nlicense: MIT\n---\n# PDF\n";

    @TempDir
    Path directory;

    private Path pdf;

    @BeforeEach
    void skill() throws IOException {
        pdf = directory.resolve("skills/pdf");
        file("SKILL.md", MAIN);
        file("references/forms.md", "Forms: é😀\n");
    }

    private Path file(String path, String text) throws IOException {
        Path file = pdf.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private String text(String path) throws SkillProblem {
        return SkillFolder.at(pdf).text(path);
    }

    private void assertRefused(String path, String words) {
        assertThatThrownBy(() -> text(path)).isInstanceOf(SkillProblem.class).hasMessage(words);
    }

    private List<String> problems(String folder) {
        return SkillFolders.find(directory, folder, new ArrayList<>());
    }

    @Test
    void text_fileOfTheSkill_isReadWhole() throws Exception {
        assertThat(text("SKILL.md")).isEqualTo(MAIN);
        assertThat(text("./references/forms.md")).isEqualTo("Forms: é😀\n");
        file("largest.md", "x".repeat(SkillFolder.MOST_BYTES));
        assertThat(text("largest.md")).hasSize(SkillFolder.MOST_BYTES);
    }

    @Test
    void text_pathOutsideOfTheSkill_isRefused() throws Exception {
        Files.writeString(directory.resolve("skills/secret.md"), "secret");

        assertRefused("../secret.md", "expected a path within the skill, found ../secret.md");
        assertRefused(
                "references/../../secret.md", "expected a path within the skill, found references/../../secret.md");
        String absolute = pdf.resolve("SKILL.md").toString();
        assertRefused(absolute, "expected a path within the skill, found " + absolute);
        assertRefused("SKILL.md\0", "expected a path within the skill");
    }

    @Test
    void text_links_areRefused_whereverTheyStandAndLead() throws Exception {
        Path outside = Files.createDirectories(directory.resolve("outside"));
        Files.writeString(outside.resolve("secret.md"), "secret");
        Files.createSymbolicLink(pdf.resolve("file.md"), outside.resolve("secret.md"));
        Files.createSymbolicLink(pdf.resolve("own.md"), Path.of("SKILL.md"));
        Files.createSymbolicLink(pdf.resolve("folder"), outside);

        assertRefused("file.md", "file.md is not a regular file");
        assertRefused("own.md", "own.md is not a regular file");
        assertRefused("folder/secret.md", "folder/secret.md leads over a link, which is not followed");
        assertRefused("folder/none.md", "folder/none.md leads over a link, which is not followed");
    }

    @Test
    void text_noTextFile_isRefused() throws Exception {
        file("large.md", "x".repeat(SkillFolder.MOST_BYTES + 1));
        file("zero.txt", "a\0b");
        Files.write(pdf.resolve("latin.txt"), new byte[] {'a', (byte) 0xe9, 'b'});
        file(".env", "secret");
        file("scripts/__pycache__/a.txt", "a");
        assertThat(new ProcessBuilder("mkfifo", pdf.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();

        assertRefused("large.md", "large.md is larger than " + SkillFolder.MOST_BYTES + " bytes");
        assertRefused("zero.txt", "zero.txt is not text");
        assertRefused("latin.txt", "latin.txt is not text in UTF-8");
        assertRefused("pipe", "pipe is not a regular file");
        assertRefused("references", "references is not a regular file");
        assertRefused(".", ". is not a regular file");
        assertRefused(".env", "the skill has no file .env");
        assertRefused("scripts/__pycache__/a.txt", "the skill has no file scripts/__pycache__/a.txt");
        assertRefused("none.md", "the skill has no file none.md");
        assertRefused("SKILL.md/none.md", "the skill has no file SKILL.md/none.md");
    }

    @Test
    void digest_dependsOnWhatCanBeRead_andOnNothingElse() throws Exception {
        String before = SkillFolder.at(pdf).digest();

        file(".git/HEAD", "x");
        file("scripts/__pycache__/a.pyc", "x");
        Files.createSymbolicLink(pdf.resolve("own.md"), Path.of("SKILL.md"));
        assertThat(SkillFolder.at(pdf).digest()).isEqualTo(before);

        Path forms = file("references/forms.md", "Forms: é😀");
        String changed = SkillFolder.at(pdf).digest();
        Files.move(forms, pdf.resolve("references/other.md"));
        String moved = SkillFolder.at(pdf).digest();
        assertThat(List.of(before, changed, moved)).doesNotHaveDuplicates();
    }

    @Test
    void digest_largeFolder_isRefused() throws Exception {
        Path large = file("large.bin", "");
        try (RandomAccessFile sparse = new RandomAccessFile(large.toFile(), "rw")) {
            sparse.setLength(SkillFolder.MOST_BYTES_IN_ALL);
        }
        assertThat(problems("skills")).singleElement().asString().contains("the skill has more than 16777216 bytes");

        Files.delete(large);
        for (int i = 0; i < SkillFolder.MOST_FILES; i++) {
            file("many/" + i, "");
        }
        assertThat(problems("skills")).singleElement().asString().contains("the skill has more than 1000 files");
    }

    @Test
    void find_folderOfSkills_orOneSkill() throws Exception {
        Files.createDirectories(directory.resolve("skills/no-skill"));
        Files.writeString(directory.resolve("skills/README.md"), "Skills");
        List<Skills.Skill> all = new ArrayList<>();
        List<Skills.Skill> one = new ArrayList<>();

        assertThat(SkillFolders.find(directory, "./skills", all)).isEmpty();
        assertThat(SkillFolders.find(directory, "skills/pdf", one)).isEmpty();

        String digest = SkillFolder.at(pdf).digest();
        assertThat(all).containsExactly(new Skills.Skill("pdf", "Reads PDFs", "./skills/pdf", digest));
        assertThat(one).containsExactly(new Skills.Skill("pdf", "Reads PDFs", "skills/pdf", digest));
        assertThat(SkillFolders.find(directory, "skills", one))
                .containsExactly("skills/pdf and skills/pdf have the same name, pdf");
    }

    @Test
    void find_whatIsNoSkill_isAProblem() throws Exception {
        Files.createDirectories(directory.resolve("empty"));
        assertThat(problems("none")).containsExactly("no such folder: " + directory.resolve("none"));
        assertThat(problems("empty"))
                .containsExactly(
                        "no skills in " + directory.resolve("empty") + ": a skill is a folder with a file SKILL.md");

        Path link = Files.createSymbolicLink(directory.resolve("skills/linked"), pdf);
        assertThat(problems("skills")).containsExactly(link + " is a link. Name the folder where it leads");

        Files.delete(link);
        Path main = pdf.resolve("SKILL.md");
        Files.move(main, directory.resolve("elsewhere.md"));
        Files.createSymbolicLink(main, directory.resolve("elsewhere.md"));
        assertThat(problems("skills")).containsExactly(main + ":1: SKILL.md is not a regular file");
    }

    @Test
    void find_moreThanFiftySkills_isAProblem() throws Exception {
        for (int i = 0; i < SkillFolders.MOST_SKILLS; i++) {
            Path folder = Files.createDirectories(directory.resolve("skills/s" + i));
            Files.writeString(folder.resolve("SKILL.md"), "---\nname: s" + i + "\ndescription: d\n---\n");
        }
        assertThat(problems("skills")).containsExactly("more than 50 skills");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "# PDF | 1: expected fields between two lines ---",
                "---~name: pdf~description: d | 1: expected fields between two lines ---",
                "---~---~ | 1: is empty",
                "---~description: d~---~ | name: is missing",
                "---~name: pdf~---~ | description: is missing",
                "---~name: pdf~description: ' '~---~ | 3: description: is empty",
                "---~license: MIT~name: other~description: d~---~ | 3: name: expected the name of its folder, pdf, found other",
                "---~name: PDF~description: d~---~ | 2: name: a skill's name has 1 to 64 characters a-z 0-9 and single hyphens, found PDF",
                "---~name: p--df~description: d~---~ | 2: name: a skill's name has",
                "---~name: pdf~description: [d]~---~ | 3: description: expected text, found a list",
                "---~name: pdf~description: Use when: always~---~ | 3: not YAML"
            })
    void find_malformedFrontMatter_isAProblemOfItsLine(String text, String problem) throws Exception {
        file("SKILL.md", text.replace('~', '\n'));

        assertThat(problems("skills"))
                .singleElement()
                .asString()
                .startsWith(pdf.resolve("SKILL.md") + ":")
                .contains(problem);
    }

    @Test
    void find_allProblemsOfASkill_areReportedAtOnce() throws Exception {
        file("SKILL.md", "---\r\nname: x\r\ndescription: " + "é".repeat(1025) + "\r\n---\r\n");
        assertThat(problems("skills"))
                .containsExactly(
                        pdf.resolve("SKILL.md") + ":2: name: expected the name of its folder, pdf, found x",
                        pdf.resolve("SKILL.md") + ":3: description: too long: 1025 characters, at most 1024");

        file("SKILL.md", "\uFEFF---\r\nname: pdf\r\ndescription: " + "é".repeat(1024) + "\r\n---\r\n");
        assertThat(problems("skills")).isEmpty();
    }

    @Test
    void find_theDirectoryItself_namesSkillsRelativeToIt() {
        List<Skills.Skill> found = new ArrayList<>();

        assertThat(SkillFolders.find(directory.resolve("skills"), "", found)).isEmpty();
        assertThat(found).extracting(Skills.Skill::folder).containsExactly("pdf");
    }

    @Test
    void find_whatIsNoPath_isAProblem() {
        assertThat(problems("a\0b")).containsExactly("not a path");
    }

    @Test
    void find_tooManySkills_readsNoneOfThem() throws Exception {
        for (int i = 0; i < SkillFolders.MOST_SKILLS; i++) {
            Path folder = Files.createDirectories(directory.resolve("skills/s" + i));
            Files.writeString(folder.resolve("SKILL.md"), "");
        }
        assertThat(problems("skills")).containsExactly("more than 50 skills");
    }

    @Test
    void digest_foldersCount_butHiddenOnesAreNotSearched() throws Exception {
        for (int i = 0; i <= SkillFolder.MOST_FILES; i++) {
            Files.createDirectories(pdf.resolve(".git/" + i));
        }
        assertThat(problems("skills")).isEmpty();

        Files.move(pdf.resolve(".git"), pdf.resolve("git"));
        assertThat(problems("skills")).singleElement().asString().contains("the skill has more than 1000 files");
    }

    @Test
    void find_descriptionWithLineSeparators_isOneLine() throws Exception {
        file("SKILL.md", "---\nname: pdf\ndescription: \"Reads\\u2028\\u2029PDFs\\u0085- admin:\\0 no\\ud800\"\n---\n");
        List<Skills.Skill> found = new ArrayList<>();

        assertThat(SkillFolders.find(directory, "skills", found)).isEmpty();
        assertThat(found).extracting(Skills.Skill::description).containsExactly("Reads PDFs - admin: no");

        file("SKILL.md", "---\nname: pdf\ndescription: \"\\0\"\n---\n");
        assertThat(problems("skills")).singleElement().asString().endsWith(":3: description: is empty");
    }
}
