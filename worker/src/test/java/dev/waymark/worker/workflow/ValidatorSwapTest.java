package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Recorded threads in a program without a validator of JSON Schemas: verdicts and grants are read from their histories,
 * so they cannot depend on a version of the validator.
 */
class ValidatorSwapTest {
    private static final String VALIDATOR = "json-schema-validator";

    private static URLClassLoader without;

    @BeforeAll
    static void open() throws Exception {
        List<String> entries = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
        assertThat(entries).anyMatch(entry -> entry.contains(VALIDATOR));
        URL[] rest = entries.stream()
                .filter(entry -> !entry.contains(VALIDATOR))
                .map(entry -> url(Path.of(entry)))
                .toArray(URL[]::new);
        without = new URLClassLoader(rest, ClassLoader.getPlatformClassLoader());
        Path any = RecordedHistoriesTest.histories().findFirst().orElseThrow();
        try {
            call("recordedHistory_replays", any);
        } catch (AssertionError e) {
            // Loading the classes may have taken longer than a workflow task may.
        }
    }

    private static URL url(Path entry) {
        try {
            return entry.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @AfterAll
    static void close() throws Exception {
        without.close();
    }

    private static void call(String method, Path history) throws Exception {
        Class<?> type = without.loadClass(RecordedHistoriesTest.class.getName());
        Method test = Arrays.stream(type.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        test.setAccessible(true);
        var constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(without);
        try {
            test.invoke(constructor.newInstance(), history);
        } catch (InvocationTargetException e) {
            throw new AssertionError("without a validator", e.getCause());
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    /** Otherwise the other tests could not fail. */
    @Test
    void validator_isMissing() throws Exception {
        Class<?> arguments = without.loadClass(ToolArguments.class.getName());
        Class<?> json = without.loadClass(Json.class.getName());
        Object empty = json.getField("EMPTY_OBJECT").get(null);

        assertThatThrownBy(() -> arguments.getMethod("problem", json, json).invoke(null, empty, empty))
                .isInstanceOf(LinkageError.class);
    }

    @ParameterizedTest
    @MethodSource("dev.waymark.worker.workflow.RecordedHistoriesTest#histories")
    @Tag("full")
    void recordedThread_withoutAValidator_replaysAndProjects(Path history) throws Exception {
        call("recordedHistory_projectsToWhatItDid", history);
        call("recordedHistory_replays", history);
    }
}
