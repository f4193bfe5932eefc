package dev.waymark.worker.process;

import dev.waymark.agent.Sandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Runs programs in a sandbox made by {@code bwrap}: as an unprivileged user, without capabilities, in a separate
 * process namespace, without network unless requested. The only visible files are the system's programs and libraries,
 * some of its settings, the directory of the agent files, the program, and the paths that the tool names. The
 * environments of the worker and of other tools, and approvers' keys in other directories, are out of reach. Without
 * network, so are local servers.
 */
public final class Bubblewrap {
    private static final String NOBODY = "65534";
    private static final int PROBE_SECONDS = 20;

    /** Directories with programs and libraries. A sandbox contains those that exist on the machine. */
    private static final List<String> SYSTEM = List.of("/usr", "/opt", "/nix");

    /** Symbolic links into /usr on newer systems. */
    private static final List<String> PERHAPS_LINKS = List.of("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32");

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
        static final Optional<String> PROBLEM = probe();
    }

    /** Why sandboxes do not work on this machine; empty if they do. */
    public static Optional<String> problem() {
        return Probe.PROBLEM;
    }

    /**
     * The command that runs the program in the sandbox. Relative paths of the sandbox are resolved against the
     * directory.
     */
    static List<String> around(List<String> program, Path directory, Sandbox sandbox) {
        Path home = directory.toAbsolutePath().normalize();
        List<String> words = new ArrayList<>(List.of(Shell.program("bwrap"), "--unshare-all"));
        if (sandbox.network()) {
            words.add("--share-net");
        }
        words.addAll(List.of("--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"));
        words.addAll(List.of("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"));
        words.addAll(List.of("--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"));
        for (String path : SYSTEM) {
            words.addAll(List.of("--ro-bind-try", path, path));
        }
        for (String path : PERHAPS_LINKS) {
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
    private static Optional<String> probe() {
        if (!Files.isExecutable(Path.of(Shell.program("bwrap")))) {
            return Optional.of("bubblewrap is not installed (no bwrap on PATH)");
        }
        try {
            Process bwrap = new ProcessBuilder(
                            around(List.of("/bin/sh", "-c", "exit 0"), Path.of("/usr"), Sandbox.CLOSED))
                    .redirectErrorStream(true)
                    .start();
            bwrap.getOutputStream().close();
            if (!bwrap.waitFor(PROBE_SECONDS, TimeUnit.SECONDS)) {
                bwrap.destroyForcibly();
                return Optional.of("bubblewrap did not answer");
            }
            String said = new String(bwrap.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return bwrap.exitValue() == 0
                    ? Optional.empty()
                    : Optional.of("bubblewrap does not work on this machine: " + said);
        } catch (IOException e) {
            return Optional.of("bubblewrap can't be started: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        }
    }
}
