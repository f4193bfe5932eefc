package dev.waymark.e2e.product;

import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The zip of a release, unpacked as {@code unzip} does, and a machine with a JDK and the commands of a base system only.
 *
 * @param root the directory with {@code ./waymark}
 */
public record UnpackedRelease(Path root) {
    /** What {@code ./waymark} and the programs of the example agents call. All of it is in POSIX or in every Linux. */
    private static final List<String> BASE_SYSTEM = List.of(
            "awk",
            "basename",
            "bash",
            "cat",
            "chmod",
            "cp",
            "cut",
            "date",
            "dirname",
            "env",
            "find",
            "flock",
            "grep",
            "head",
            "id",
            "kill",
            "ln",
            "ls",
            "mkdir",
            "mkfifo",
            "mktemp",
            "mv",
            "ps",
            "readlink",
            "rm",
            "sed",
            "setsid",
            "sh",
            "sleep",
            "sort",
            "tail",
            "tee",
            "touch",
            "tr",
            "uname",
            "wc");

    /** Unpacks the zip into this directory, with the files' permissions. */
    public static UnpackedRelease of(Path zip, Path directory) throws IOException {
        // Not by its URI: a process has one file system for it, and tests unpack the zip concurrently.
        try (FileSystem packed = FileSystems.newFileSystem(zip, Map.of("enablePosixFileAttributes", true))) {
            Path root = packed.getPath("/");
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(each -> each.getNameCount() > 0).toList()) {
                    Path target = directory.resolve(root.relativize(file).toString());
                    Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
                    Files.setPosixFilePermissions(target, Files.getPosixFilePermissions(file));
                }
            }
        }
        Path bin = Files.createDirectory(directory.resolve("bin"));
        for (String name : BASE_SYSTEM) {
            Path command = Path.of("/usr/bin", name);
            Files.createSymbolicLink(bin.resolve(name), Files.exists(command) ? command : Path.of("/bin", name));
        }
        try (Stream<Path> roots = Files.list(directory)) {
            return new UnpackedRelease(roots.filter(each -> Files.exists(each.resolve("waymark")))
                    .findFirst()
                    .orElseThrow());
        }
    }

    /** A command line in the unpacked directory. */
    public ChildProcess.Builder command(String line) {
        String path = Path.of(System.getProperty("java.home"), "bin") + ":" + root.resolveSibling("bin");
        return ChildProcess.of("bash", "-c", "exec " + line.replaceFirst(" +# .*", ""))
                .in(root)
                .withoutEnvironment(".*")
                .environment(Map.of("PATH", path, "HOME", root.getParent().toString()));
    }
}
