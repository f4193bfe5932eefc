package dev.waymark.starter.worker;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Runs a command of another build in a separate JVM, so that the other build's code decides. A build is a jar that
 * contains everything, or a directory with classes, jars, or both. Classes take precedence over jars.
 */
final class BuildProcess {
    private static final String MAIN = "dev.waymark.starter.Main";

    private final Path build;
    private final Map<String, String> environment;

    /** @param environment passed to the process through a pipe, where other programs cannot read it */
    BuildProcess(Path build, Map<String, String> environment) {
        this.build = build;
        this.environment = environment;
    }

    /** Whether the build has this command. Builds that are too old for the command cannot be tried. */
    boolean has(Class<?> command) throws IOException {
        return hasFile(command.getName().replace('.', '/') + ".class");
    }

    /** Whether the build is an executable jar of Spring Boot, which has Waymark's libraries but not its commands. */
    boolean isSpringBoot() throws IOException {
        return hasFile("BOOT-INF/classpath.idx");
    }

    private boolean hasFile(String name) throws IOException {
        try (URLClassLoader files = new URLClassLoader(urls(), null)) {
            return files.findResource(name) != null;
        }
    }

    /** Runs the other build's command line with these arguments, and returns its exit code. */
    int run(List<String> arguments, PrintWriter out, PrintWriter err) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dwaymark.environment=/dev/stdin",
                "-cp",
                classPath(),
                MAIN));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        Process process = builder.start();
        Thread end = new Thread(process::destroy);
        Runtime.getRuntime().addShutdownHook(end);
        try {
            Thread errors = new Thread(() -> copy(process.getErrorStream(), err), "waymark-build-stderr");
            errors.start();
            pass(process.getOutputStream());
            copy(process.getInputStream(), out);
            errors.join();
            return process.waitFor();
        } finally {
            process.destroy();
            Runtime.getRuntime().removeShutdownHook(end);
        }
    }

    private void pass(OutputStream to) throws IOException {
        try (OutputStream stdin = to) {
            for (Map.Entry<String, String> variable : environment.entrySet()) {
                stdin.write((variable.getKey() + "=" + variable.getValue() + "\0").getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static void copy(InputStream from, PrintWriter to) {
        try (Reader reader = new InputStreamReader(from, StandardCharsets.UTF_8)) {
            reader.transferTo(to);
            to.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String classPath() {
        return Files.isDirectory(build) ? build + File.pathSeparator + build.resolve("*") : build.toString();
    }

    private URL[] urls() throws IOException {
        List<Path> entries = new ArrayList<>(List.of(build));
        if (Files.isDirectory(build)) {
            try (Stream<Path> files = Files.list(build)) {
                files.filter(file -> file.toString().endsWith(".jar")).forEach(entries::add);
            }
        }
        return entries.stream().map(BuildProcess::url).toArray(URL[]::new);
    }

    private static URL url(Path entry) {
        try {
            return entry.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }
}
