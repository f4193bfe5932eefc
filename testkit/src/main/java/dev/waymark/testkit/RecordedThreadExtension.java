package dev.waymark.testkit;

import dev.waymark.history.HistoryAudit;
import dev.waymark.history.HistoryFinding;
import dev.waymark.history.HistoryReplay;
import dev.waymark.history.ProjectedHistory;
import dev.waymark.history.ThreadHistory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/** Runs a method with {@link RecordedThread} once for each of its files. */
final class RecordedThreadExtension implements TestTemplateInvocationContextProvider {
    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return context.getRequiredTestMethod().isAnnotationPresent(RecordedThread.class);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        RecordedThread files = context.getRequiredTestMethod().getAnnotation(RecordedThread.class);
        return Arrays.stream(files.value()).map(Invocation::new);
    }

    /** Replays and projects a thread, and throws an AssertionError that names every finding. */
    static void check(String file, ThreadHistory thread) {
        List<HistoryFinding> findings;
        try (HistoryReplay replay = ServiceLoader.load(HistoryReplay.class)
                .findFirst()
                .orElseThrow(() ->
                        new IllegalStateException("@RecordedThread needs waymark-worker on the test's class path"))) {
            findings = new HistoryAudit(replay).audit(thread).findings();
        }
        if (!findings.isEmpty()) {
            throw new AssertionError(file + ", thread " + thread.thread() + ": "
                    + findings.stream().map(HistoryFinding::toString).collect(Collectors.joining("\n")));
        }
    }

    private static ThreadHistory read(String file, Class<?> beside) {
        try (InputStream resource = beside.getResourceAsStream(file)) {
            String json = resource == null
                    ? Files.readString(Path.of(file))
                    : new String(resource.readAllBytes(), StandardCharsets.UTF_8);
            return ThreadHistory.parse(json);
        } catch (IOException e) {
            throw new IllegalStateException(
                    "no such recording: " + file + ", neither a resource beside " + beside.getName() + " nor a file",
                    e);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException("not a recording: " + file + ": " + e.getMessage(), e);
        }
    }

    private record Invocation(String file) implements TestTemplateInvocationContext {
        @Override
        public String getDisplayName(int index) {
            return file;
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(new Check(file));
        }
    }

    private record Check(String file) implements BeforeEachCallback, ParameterResolver {
        @Override
        public void beforeEach(ExtensionContext context) {
            check(file, read(file, context.getRequiredTestClass()));
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            Class<?> type = parameter.getParameter().getType();
            return type == ThreadHistory.class || type == ProjectedHistory.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            ThreadHistory thread = read(file, context.getRequiredTestClass());
            if (parameter.getParameter().getType() == ThreadHistory.class) {
                return thread;
            }
            return ProjectedHistory.project(
                    thread.runs().get(thread.runs().size() - 1).history());
        }
    }
}
