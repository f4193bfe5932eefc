import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Makes the program's jar smaller after the shade plugin has written it. Removes names of local variables, annotations
 * that the JVM does not read, and Kotlin's metadata from the classes of all libraries, and line numbers from generated
 * classes only, so that stack traces stay readable.
 *
 * <p>The build runs this source file with Java's source launcher: {@code SlimJar.java JAR}.
 */
final class SlimJar {

    private static final String OWN = "dev/waymark/";

    /** Packages whose classes protobuf generates. Their line numbers are not needed. */
    private static final List<String> GENERATED =
            List.of("io/temporal/api/", "com/google/api/", "com/google/rpc/", "com/google/protobuf/DescriptorProtos", "grpc/gateway/");

    private SlimJar() {}

    public static void main(String[] args) throws IOException {
        Path jar = Path.of(args[0]);
        Path draft = Path.of(jar + ".draft");
        try (ZipFile from = new ZipFile(jar.toFile());
                ZipOutputStream to = writer(draft)) {
            for (ZipEntry entry : Collections.list(from.entries())) {
                if (!entry.isDirectory()) {
                    write(entry, from.getInputStream(entry).readAllBytes(), to);
                }
            }
        }
        Files.move(draft, jar, StandardCopyOption.REPLACE_EXISTING);
    }

    private static ZipOutputStream writer(Path jar) throws IOException {
        OutputStream file = new BufferedOutputStream(Files.newOutputStream(jar));
        ZipOutputStream writer = new ZipOutputStream(file);
        writer.setLevel(Deflater.BEST_COMPRESSION);
        return writer;
    }

    private static void write(ZipEntry entry, byte[] content, ZipOutputStream to) throws IOException {
        String name = entry.getName();
        boolean isLibraryClass = name.endsWith(".class") && !name.startsWith(OWN);
        ZipEntry written = new ZipEntry(name);
        written.setTimeLocal(entry.getTimeLocal());
        to.putNextEntry(written);
        to.write(isLibraryClass ? stripped(name, content) : content);
        to.closeEntry();
    }

    private static byte[] stripped(String name, byte[] content) {
        boolean isGenerated = GENERATED.stream().anyMatch(name::startsWith);
        ClassWriter writer = new ClassWriter(0);
        new ClassReader(content).accept(new Stripper(writer), isGenerated ? ClassReader.SKIP_DEBUG : 0);
        return writer.toByteArray();
    }

    /** Leaves out what the JVM never reads, and Kotlin's metadata, which only Kotlin's compiler and reflection read. */
    private static final class Stripper extends ClassVisitor {
        Stripper(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public AnnotationVisitor visitAnnotation(String type, boolean visible) {
            return visible && !type.equals("Lkotlin/Metadata;") ? super.visitAnnotation(type, visible) : null;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodStripper(super.visitMethod(access, name, descriptor, signature, exceptions));
        }
    }

    private static final class MethodStripper extends MethodVisitor {
        MethodStripper(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public AnnotationVisitor visitAnnotation(String type, boolean visible) {
            return visible ? super.visitAnnotation(type, visible) : null;
        }

        @Override
        public AnnotationVisitor visitParameterAnnotation(int parameter, String type, boolean visible) {
            return visible ? super.visitParameterAnnotation(parameter, type, visible) : null;
        }

        @Override
        public void visitLocalVariable(
                String variable, String type, String generic, Label start, Label end, int index) {}
    }
}
