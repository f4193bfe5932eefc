package dev.waymark.testkit;

import dev.waymark.agent.AgentSpec;
import dev.waymark.history.HistoryRehearsal;
import dev.waymark.model.ModelProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/** Runs a method with {@link RehearsedThread} once for each of its threads. */
final class RehearsedThreadExtension implements TestTemplateInvocationContextProvider {
    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return context.getRequiredTestMethod().isAnnotationPresent(RehearsedThread.class);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        RehearsedThread threads = context.getRequiredTestMethod().getAnnotation(RehearsedThread.class);
        return Arrays.stream(threads.value())
                .map(Path::of)
                .flatMap(path -> Files.isDirectory(path) ? files(path) : Stream.of(path))
                .map(file -> new Invocation(file, settings(threads), threads));
    }

    private static Stream<Path> files(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".json")).sorted().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static HistoryRehearsal.Settings settings(RehearsedThread threads) {
        return new HistoryRehearsal.Settings(
                Path.of(threads.agents()),
                List.of(threads.failOn()),
                Set.of(threads.allowedProviders()),
                new BigDecimal(threads.mostUsd()));
    }

    private static HistoryRehearsal.InJava inJava(RehearsedThread threads) throws ReflectiveOperationException {
        List<AgentSpec> agents = new ArrayList<>();
        Map<String, ModelProvider> providers = new LinkedHashMap<>();
        for (Class<? extends RehearsedAgents> type : threads.javaAgents()) {
            Constructor<? extends RehearsedAgents> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            RehearsedAgents supplied = constructor.newInstance();
            agents.addAll(supplied.agents());
            providers.putAll(supplied.providers());
        }
        return new HistoryRehearsal.InJava(agents, providers);
    }

    private record Invocation(Path file, HistoryRehearsal.Settings settings, RehearsedThread threads)
            implements TestTemplateInvocationContext {
        @Override
        public String getDisplayName(int index) {
            return file.toString();
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(new Check(file, settings, threads));
        }
    }

    private record Check(Path file, HistoryRehearsal.Settings settings, RehearsedThread threads)
            implements BeforeEachCallback {
        @Override
        public void beforeEach(ExtensionContext context) throws Exception {
            HistoryRehearsal rehearsal = ServiceLoader.load(HistoryRehearsal.class)
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(
                            "@RehearsedThread needs waymark-rehearsal on the test's class path"));
            List<String> problems = rehearsal.problems(file, settings, inJava(threads));
            if (!problems.isEmpty()) {
                throw new AssertionError(file + ":\n" + String.join("\n", problems));
            }
        }
    }
}
