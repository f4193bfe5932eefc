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
 * The types that other programs may depend on: whole packages, which the Javadoc groups as the public API, and single
 * types of other packages that occur in the signatures of these packages.
 */
record PublicPackages(String module) {
    static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final Map<String, List<String>> INCLUDED = Map.of(
            "shared",
            List.of(
                    "agent/*",
                    "annotation/*",
                    "connect/*",
                    "conversation/message/*",
                    "conversation/value/*",
                    "extension/*",
                    "model/*",
                    "saver/*",
                    "tool/*",
                    "checkpoint/CheckpointFormat",
                    "contract/thread/StatusReport",
                    "contract/work/AgentList",
                    "contract/{ForkSource,ThreadOwner}",
                    "conversation/FileCalls",
                    "conversation/call/{CallApproval,CallSettlement,DecisionSignature,PendingItem}",
                    "conversation/fact/{Fact,PersonFact}",
                    "conversation/policy/AnnounceRule",
                    "conversation/policy/AnnouncedEvent",
                    "conversation/policy/ResultRule",
                    "conversation/policy/SummaryRule",
                    "conversation/policy/WaitRule",
                    "conversation/state/IgnoredSignals",
                    "history/{EventPlace,Moment,RunEnding,Timeline,Version}"),
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
                    "worker/agents/AgentDefinitions",
                    "worker/agents/AgentDirectory",
                    "worker/agents/AgentInvalid",
                    "worker/announce/Receiver",
                    "worker/announce/Receivers",
                    "worker/model/ModelProviders",
                    "worker/tool/java/JavaTools"),
            "spring-boot",
            List.of(
                    "spring/AgentWorkerCustomizer",
                    "spring/WaymarkAutoConfiguration",
                    "spring/WaymarkProperties",
                    "spring/test/OnInMemoryServer",
                    "spring/test/WaymarkTest"),
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
                    .sorted()
                    .toList();
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
