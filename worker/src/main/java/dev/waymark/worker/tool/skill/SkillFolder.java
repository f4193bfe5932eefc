package dev.waymark.worker.tool.skill;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.worker.inbound.InlineText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.StreamSupport;

/**
 * The folder of one skill. Its files are the regular ones, at any depth. Links, hidden files and {@code __pycache__} are
 * no part of the skill: they are not read and do not count for the digest.
 */
final class SkillFolder {
    static final String MAIN = "SKILL.md";

    /** The largest file that is read, so that a result has room for a note. */
    static final int MOST_BYTES = InlineText.LIMIT_BYTES - 1024;

    /** The digest is computed for each call, so a folder is limited. */
    static final int MOST_FILES = 1_000;

    static final long MOST_BYTES_IN_ALL = 16 * 1024 * 1024;

    private final Path folder;

    private SkillFolder(Path folder) {
        this.folder = folder;
    }

    /** The folder at this path, which may lead there over links: the operators named it. */
    static SkillFolder at(Path path) throws SkillProblem {
        try {
            return new SkillFolder(path.toRealPath());
        } catch (IOException e) {
            throw new SkillProblem("this worker does not have the folder of the skill");
        }
    }

    /** The text of a file, by its path in the folder. */
    String text(String path) throws SkillProblem {
        Path file = folder.resolve(relative(path));
        checkNoLink(Objects.requireNonNull(file.getParent()), path);
        // Opening a pipe or a device may never return.
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new SkillProblem(
                    Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                            ? path + " is not a regular file"
                            : "the skill has no file " + path);
        }
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            // Checked at the end, to find also a link that was put into the path meanwhile.
            if (!file.toRealPath().equals(file)) {
                throw new SkillProblem(path + " leads over a link, which is not followed");
            }
            if (bytes.length > MOST_BYTES) {
                throw new SkillProblem(path + " is larger than " + MOST_BYTES + " bytes");
            }
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            if (text.indexOf('\0') >= 0) {
                throw new SkillProblem(path + " is not text");
            }
            return text;
        } catch (CharacterCodingException e) {
            throw new SkillProblem(path + " is not text in UTF-8");
        } catch (IOException e) {
            throw new SkillProblem(path + " is not readable");
        }
    }

    /** What is outside of the folder is neither opened nor said to exist. */
    private static void checkNoLink(Path parent, String path) throws SkillProblem {
        try {
            if (!parent.toRealPath().equals(parent)) {
                throw new SkillProblem(path + " leads over a link, which is not followed");
            }
        } catch (IOException e) {
            throw new SkillProblem("the skill has no file " + path);
        }
    }

    private static Path relative(String path) throws SkillProblem {
        try {
            Path given = Path.of(path);
            if (given.isAbsolute()
                    || StreamSupport.stream(given.spliterator(), false).anyMatch(Path.of("..")::equals)) {
                throw new SkillProblem("expected a path within the skill, found " + path);
            }
            Path relative = given.normalize();
            if (!isPart(relative)) {
                throw new SkillProblem("the skill has no file " + path);
            }
            return relative;
        } catch (InvalidPathException e) {
            throw new SkillProblem("expected a path within the skill");
        }
    }

    private static boolean isPart(Path relative) {
        return StreamSupport.stream(relative.spliterator(), false)
                .map(Path::toString)
                .noneMatch(name -> name.startsWith(".") || name.equals("__pycache__"));
    }

    /** The digest of all files of the skill: of their paths and contents. */
    String digest() throws SkillProblem {
        try {
            StringBuilder listed = new StringBuilder();
            long left = MOST_BYTES_IN_ALL;
            for (Path file : files()) {
                byte[] bytes;
                try (InputStream in = Files.newInputStream(folder.resolve(file), LinkOption.NOFOLLOW_LINKS)) {
                    bytes = in.readNBytes((int) left + 1);
                }
                left -= bytes.length;
                if (left < 0) {
                    throw new SkillProblem("the skill has more than " + MOST_BYTES_IN_ALL + " bytes");
                }
                listed.append(Sha256.hex(bytes)).append(' ').append(file).append('\n');
            }
            return Sha256.hex(listed.toString());
        } catch (IOException e) {
            throw new SkillProblem("a file of the skill is not readable");
        }
    }

    /** The paths of all files. Folders and links count, too, so that the search has an end. */
    private List<Path> files() throws IOException, SkillProblem {
        List<Path> files = new ArrayList<>();
        int[] entries = {0};
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path entry, BasicFileAttributes attributes) {
                return isPart(folder.relativize(entry)) ? count() : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path entry, BasicFileAttributes attributes) {
                Path relative = folder.relativize(entry);
                if (!isPart(relative)) {
                    return FileVisitResult.CONTINUE;
                }
                if (attributes.isRegularFile()) {
                    files.add(relative);
                }
                return count();
            }

            @Override
            public FileVisitResult visitFileFailed(Path entry, IOException failure) throws IOException {
                if (isPart(folder.relativize(entry))) {
                    throw failure;
                }
                return FileVisitResult.CONTINUE;
            }

            private FileVisitResult count() {
                entries[0]++;
                // The folder itself is the first.
                return entries[0] > MOST_FILES + 1 ? FileVisitResult.TERMINATE : FileVisitResult.CONTINUE;
            }
        });
        if (entries[0] > MOST_FILES + 1) {
            throw new SkillProblem("the skill has more than " + MOST_FILES + " files and folders");
        }
        return files.stream().sorted().toList();
    }
}
