package dev.waymark.e2e.api;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The types that other programs may depend on: the public types of packages, which the Javadoc groups as the public API.
 * Only of the facts, two are public: a sealed interface and those that it permits share a package.
 */
record PublicPackages(String module) {
    static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final Map<String, List<String>> INCLUDED = Map.of(
            "shared",
            List.of(
                    "agent/*",
                    "annotation/*",
                    "connect/*",
                    "conversation/decision/*",
                    "conversation/message/*",
                    "conversation/policy/*",
                    "conversation/value/*",
                    "extension/*",
                    "model/*",
                    "offline/*",
                    "saver/*",
                    "tool/*",
                    "thread/*",
                    "timeline/*",
                    "workflow/*",
                    "conversation/fact/{Fact,PersonFact}"),
            "client",
            List.of(
                    "client/*",
                    "client/failure/*",
                    "client/list/*",
                    "client/request/*",
                    "client/save/*",
                    "client/schedule/*",
                    "client/trace/*"),
            "worker",
            List.of(
                    "worker/*",
                    "worker/server/*",
                    "worker/agents/*",
                    "worker/announce/*",
                    "worker/provider/*",
                    "worker/tool/java/*"),
            "spring-boot",
            List.of("spring/*", "spring/test/*"),
            "testkit",
            List.of("testkit/*", "testkit/crash/*", "testkit/model/*"));

    private Path sources() {
        return ROOT.resolve(module).resolve("src/main/java");
    }

    /** Returns the source files of the public types, sorted. */
    List<Path> files() {
        FileSystem files = FileSystems.getDefault();
        List<String> included = INCLUDED.getOrDefault(module, List.of());
        try (Stream<Path> all = Files.walk(sources())) {
            return all.filter(file -> !file.endsWith("package-info.java"))
                    .filter(file -> included.stream()
                            .map(each -> files.getPathMatcher("glob:dev/waymark/" + each + ".java"))
                            .anyMatch(each -> each.matches(sources().relativize(file))))
                    .filter(PublicPackages::isPublic)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPublic(Path file) {
        try {
            return Files.readString(file).contains("\npublic ");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the names of the packages that are public as a whole. */
    List<String> packages() {
        return INCLUDED.getOrDefault(module, List.of()).stream()
                .filter(name -> name.endsWith("/*"))
                .map(name -> ("dev.waymark/" + name.substring(0, name.length() - 2)).replace('/', '.'))
                .toList();
    }

    /** Returns the names of the public top-level classes, sorted. */
    List<String> classes() {
        return files().stream()
                .map(file -> sources().relativize(file).toString())
                .map(name -> name.substring(0, name.length() - ".java".length()).replace('/', '.'))
                .toList();
    }
}
