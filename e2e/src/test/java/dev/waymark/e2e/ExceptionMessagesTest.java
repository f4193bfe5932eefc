package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * Lists the exception messages of the main code in one file, so that they can be reviewed together: each says what is
 * wrong, with the value. {@code -Dmessages.record=true} writes the file.
 */
class ExceptionMessagesTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path FILE = Path.of("src/test/resources/exception-messages.txt");

    @Test
    void messages_areAsReviewed() throws IOException {
        String found = String.join("\n", messages()) + "\n";

        if (Boolean.getBoolean("messages.record")) {
            Files.writeString(FILE, found);
        } else {
            assertThat(found).isEqualTo(Files.readString(FILE));
        }
    }

    private static Set<String> messages() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Set<String> messages = new TreeSet<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, files, null, List.of("-proc:none"), null, files.getJavaFileObjectsFromPaths(sources()));
            for (CompilationUnitTree unit : task.parse()) {
                String name =
                        Path.of(unit.getSourceFile().getName()).getFileName().toString();
                unit.accept(new Messages(name.replace(".java", "")), messages);
            }
        }
        return messages;
    }

    private static List<Path> sources() throws IOException {
        List<Path> all = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(each -> !each.endsWith("bench")).toList()) {
                Path sources = module.resolve("src/main/java");
                if (Files.isDirectory(sources)) {
                    try (Stream<Path> files = Files.walk(sources)) {
                        files.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
                    }
                }
            }
        }
        return all;
    }

    private static final class Messages extends TreeScanner<Void, Set<String>> {
        private final String source;

        private Messages(String source) {
            this.source = source;
        }

        @Override
        public Void visitNewClass(NewClassTree tree, Set<String> messages) {
            String type = tree.getIdentifier().toString();
            if ((type.endsWith("Exception") || type.endsWith("Error"))
                    && !tree.getArguments().isEmpty()) {
                String message = template(tree.getArguments().get(0));
                if (!message.equals("{}")) {
                    messages.add(source + ": " + message);
                }
            }
            return super.visitNewClass(tree, messages);
        }

        /** The text of a concatenation, with {@code {}} for its values. */
        private static String template(ExpressionTree message) {
            if (message instanceof ParenthesizedTree inner) {
                return template(inner.getExpression());
            }
            if (message instanceof BinaryTree sum) {
                return (template(sum.getLeftOperand()) + template(sum.getRightOperand())).replace("{}{}", "{}");
            }
            return message instanceof LiteralTree literal && literal.getValue() instanceof String text
                    ? text.replace("\n", "\\n")
                    : "{}";
        }
    }
}
