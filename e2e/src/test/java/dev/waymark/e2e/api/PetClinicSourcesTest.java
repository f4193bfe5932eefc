package dev.waymark.e2e.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * Compiles the files that {@link ReleaseTest} adds to spring-petclinic against the public API, because that test needs
 * a checkout and runs rarely. The classes of petclinic itself are missing here, so errors about them are expected and
 * ignored.
 */
class PetClinicSourcesTest {
    private static final Path SOURCES = Path.of("src/test/petclinic/src/main/java");

    @Test
    void sources_compileAgainstThePublicApi() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(SOURCES)) {
            files = all.filter(file -> file.toString().endsWith(".java")).toList();
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(problems, Locale.ROOT, null)) {
            List<String> options =
                    List.of("-proc:none", "-implicit:none", "-classpath", System.getProperty("java.class.path"));
            compiler.getTask(null, manager, problems, options, null, manager.getJavaFileObjectsFromPaths(files))
                    .call();
        }

        assertThat(files).hasSizeGreaterThan(1);
        assertThat(problems.getDiagnostics())
                .extracting(problem -> problem.getMessage(Locale.ROOT))
                .anyMatch(message -> message.contains("OwnerRepository"))
                .noneMatch(message -> message.contains("dev.waymark"));
    }
}
