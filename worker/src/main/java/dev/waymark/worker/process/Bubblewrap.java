package dev.waymark.worker.process;

import dev.waymark.agent.Sandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs programs in a sandbox made by {@code bwrap}: as an unprivileged user, without capabilities, in a separate
 * process namespace, without network unless requested. The only visible files are the system's programs and libraries,
 * some of its settings, the directory of the agent files, the program, and the paths that the tool names. The
 * environments of the worker and of other tools, and approvers' keys in other directories, are out of reach. Without
 * network, so are local servers.
 */
public final class Bubblewrap {
    private static final String NOBODY = "65534";

    /** A user id that no system uses, so that no file outside of the sandbox belongs to it. */
    private static final String PROBE_USER = "64999";

    /** Directories of /proc that change the whole machine if root writes to them. */
    private static final List<String> MACHINE_SETTINGS = List.of("/proc/sys", "/proc/irq", "/proc/bus");

    private static final int PROBE_SECONDS = 20;

    /** Directories with programs and libraries. A sandbox contains those that exist on the machine. */
    private static final List<String> SYSTEM = List.of("/usr", "/opt", "/nix");

    /** Symbolic links into /usr on newer systems. */
    private static final List<String> POSSIBLE_LINKS = List.of("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32");

    private static final List<String> SETTINGS = List.of(
            "alternatives",
            "ca-certificates",
            "group",
            "hosts",
            "java",
            "ld.so.cache",
            "ld.so.conf",
            "ld.so.conf.d",
            "localtime",
            "mime.types",
            "nsswitch.conf",
            "passwd",
            "pki",
            "protocols",
            "resolv.conf",
            "services",
            "ssl/certs",
            "ssl/openssl.cnf",
            "timezone");

    private Bubblewrap() {}

    private static final class Probe {
        static final Optional<String> PROBLEM = probe(Shell.program("bwrap"));
    }

    /** Why sandboxes do not work on this machine; empty if they do. */
    public static Optional<String> problem() {
        return Probe.PROBLEM;
    }

    /**
     * Returns the command that runs the program in the sandbox. Relative paths of the sandbox are resolved against the
     * directory.
     */
    static List<String> around(List<String> program, Path directory, Sandbox sandbox) {
        return around(Shell.program("bwrap"), NOBODY, program, directory, sandbox);
    }

    private static List<String> around(
            String bwrap, String user, List<String> program, Path directory, Sandbox sandbox) {
        Path home = home(directory);
        List<String> words = new ArrayList<>(List.of(bwrap, "--unshare-all"));
        if (sandbox.network()) {
            words.add("--share-net");
        }
        words.addAll(List.of("--uid", user, "--gid", user, "--cap-drop", "ALL"));
        words.addAll(List.of("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"));
        for (String path : MACHINE_SETTINGS) {
            words.addAll(List.of("--ro-bind-try", path, path));
        }
        words.addAll(List.of("--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"));
        for (String path : SYSTEM) {
            words.addAll(List.of("--ro-bind-try", path, path));
        }
        for (String path : POSSIBLE_LINKS) {
            words.addAll(link(path)
                    .map(target -> List.of("--symlink", target, path))
                    .orElse(List.of("--ro-bind-try", path, path)));
        }
        for (String name : SETTINGS) {
            words.addAll(List.of("--ro-bind-try", "/etc/" + name, "/etc/" + name));
        }
        words.addAll(List.of("--ro-bind", home.toString(), home.toString()));
        Path first = Path.of(program.get(0));
        if (first.isAbsolute()) {
            words.addAll(List.of("--ro-bind-try", first.toString(), first.toString()));
        }
        for (String path : sandbox.read()) {
            words.addAll(bind("--ro-bind", home.resolve(path)));
        }
        for (String path : sandbox.write()) {
            words.addAll(bind("--bind", home.resolve(path)));
        }
        words.addAll(List.of("--chdir", home.toString(), "--"));
        words.addAll(program);
        return words;
    }

    private static Path home(Path directory) {
        return directory.toAbsolutePath().normalize();
    }

    /**
     * Returns a symbolic link on the path of a sandbox, if there is one. A program in a sandbox can create links in
     * directories that it may write to, and could thereby give another sandbox access to any file of the worker. Links
     * owned by root, such as {@code /var/run}, and links above the directory of the agent files are allowed.
     *
     * @param directory the directory of the agent files
     */
    public static Optional<Path> linkIn(Path directory, String path) {
        Path home = home(directory);
        Path whole = home.resolve(path).normalize();
        for (Path part = whole; part.getParent() != null; part = part.getParent()) {
            if (!home.startsWith(part) && Files.isSymbolicLink(part) && !isOfRoot(part)) {
                return Optional.of(part);
            }
        }
        return Optional.empty();
    }

    private static boolean isOfRoot(Path link) {
        try {
            return Files.getAttribute(link, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                    .equals(0);
        } catch (IOException e) {
            return false; // The link has just been removed.
        }
    }

    /** Why the programs of this sandbox can't run; empty if they can. */
    static Optional<String> problem(Path directory, Sandbox sandbox) {
        return problem()
                .or(() -> Stream.concat(sandbox.read().stream(), sandbox.write().stream())
                        .flatMap(path -> linkIn(directory, path).map(link -> linkMessage(path, link)).stream())
                        .findFirst());
    }

    /** @param path the path of a sandbox that leads through this link */
    public static String linkMessage(String path, Path link) {
        return path + " leads through the symbolic link " + link
                + ", which another tool may have made: name the file or directory that is meant";
    }

    private static List<String> bind(String how, Path path) {
        String place = path.normalize().toString();
        return List.of(how, place, place);
    }

    private static Optional<String> link(String path) {
        try {
            return Optional.of(Files.readSymbolicLink(Path.of(path)).toString());
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    /** Runs a trial, because many machines have bwrap installed but forbid operations that it needs. */
    static Optional<String> probe(String program) {
        if (!Files.isExecutable(Path.of(program))) {
            return Optional.of("bubblewrap is not installed (no bwrap on PATH); install it, for instance with apt-get"
                    + " install bubblewrap");
        }
        try {
            // The user of the sandbox owns the system's files only if it is root outside.
            Process bwrap = new ProcessBuilder(around(
                            program,
                            PROBE_USER,
                            List.of("/bin/sh", "-c", "[ ! -O /usr ] || echo root"),
                            Path.of("/usr"),
                            Sandbox.CLOSED))
                    .redirectErrorStream(true)
                    .start();
            bwrap.getOutputStream().close();
            if (!bwrap.waitFor(PROBE_SECONDS, TimeUnit.SECONDS)) {
                bwrap.destroyForcibly();
                return Optional.of("bubblewrap did not answer");
            }
            String said = new String(bwrap.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (bwrap.exitValue() != 0) {
                return Optional.of("bubblewrap does not work on this machine: " + said);
            }
            return said.equals("root")
                    ? Optional.of(
                            "the worker is root (uid 0), and bubblewrap does not protect a machine from programs of"
                                    + " root's; run the worker as another user, as the image does (uid 10001)")
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.of("bubblewrap can't be started: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        }
    }
}
