package dev.waymark.e2e.api;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Finds public elements without a doc comment. Elements that are documented elsewhere are exempt: overriding methods,
 * record components, constructors, enum constants, and test methods, whose names are sentences. Internal elements are
 * exempt, too.
 */
final class UndocumentedElements extends TreePathScanner<Void, Void> {
    private static final Set<String> DOCUMENTED_ELSEWHERE = Set.of("Internal", "Override", "Test", "ParameterizedTest");

    private final List<String> found = new ArrayList<>();
    private final DocTrees docs;

    private UndocumentedElements(DocTrees docs) {
        this.docs = docs;
    }

    static List<String> in(List<Path> files) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            UndocumentedElements scanner = new UndocumentedElements(DocTrees.instance(task));
            for (CompilationUnitTree unit : task.parse()) {
                scanner.scan(unit, null);
            }
            return scanner.found;
        }
    }

    @Override
    public Void visitClass(ClassTree type, Void nothing) {
        if (!isVisible(type.getModifiers()) || isDocumentedElsewhere(type.getModifiers())) {
            return null;
        }
        require(type.getSimpleName().toString());
        return super.visitClass(type, nothing);
    }

    @Override
    public Void visitMethod(MethodTree method, Void nothing) {
        boolean isConstructor = method.getName().contentEquals("<init>");
        if (isVisible(method.getModifiers()) && !isDocumentedElsewhere(method.getModifiers()) && !isConstructor) {
            require(method.getName().toString());
        }
        return null;
    }

    @Override
    public Void visitVariable(VariableTree field, Void nothing) {
        ClassTree owner = (ClassTree) getCurrentPath().getParentPath().getLeaf();
        boolean isConstant = owner.getKind() == Tree.Kind.ENUM
                && field.getType() instanceof IdentifierTree type
                && type.getName().equals(owner.getSimpleName());
        if (isVisible(field.getModifiers()) && !isDocumentedElsewhere(field.getModifiers()) && !isConstant) {
            require(field.getName().toString());
        }
        return null;
    }

    private static boolean isDocumentedElsewhere(ModifiersTree modifiers) {
        return modifiers.getAnnotations().stream()
                .anyMatch(each ->
                        DOCUMENTED_ELSEWHERE.contains(each.getAnnotationType().toString()));
    }

    private void require(String name) {
        if (docs.getDocComment(getCurrentPath()) == null) {
            CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
            long line = unit.getLineMap()
                    .getLineNumber(docs.getSourcePositions()
                            .getStartPosition(unit, getCurrentPath().getLeaf()));
            found.add(Path.of(unit.getSourceFile().getName()).getFileName() + ":" + line + " " + name);
        }
    }

    /** Members of interfaces are public without a modifier. */
    private boolean isVisible(ModifiersTree modifiers) {
        Set<Modifier> flags = modifiers.getFlags();
        if (flags.contains(Modifier.PUBLIC) || flags.contains(Modifier.PROTECTED)) {
            return true;
        }
        TreePath parent = getCurrentPath().getParentPath();
        boolean isOfInterface = parent != null
                && Set.of(Tree.Kind.INTERFACE, Tree.Kind.ANNOTATION_TYPE)
                        .contains(parent.getLeaf().getKind());
        return isOfInterface && !flags.contains(Modifier.PRIVATE);
    }
}
