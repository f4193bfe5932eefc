package dev.waymark.starter.worker;

import dev.waymark.extension.WorkerExtension;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Loads the extensions of a worker from jars. An extension's own libraries take precedence over the worker's, because
 * the program's jar contains only the parts that the program needs. Classes that both sides exchange come from the
 * worker.
 */
final class ExtensionLoader extends URLClassLoader {
    private static final List<String> SHARED =
            List.of("java.", "javax.", "dev.waymark.", "com.fasterxml.jackson.", "org.slf4j.", "org.jspecify.");

    private ExtensionLoader(List<URL> jars) {
        super("extensions", jars.toArray(URL[]::new), ExtensionLoader.class.getClassLoader());
    }

    /**
     * Returns the extensions on the worker's own class path, in these jars, and in the jars of these directories. The
     * class loader stays open as long as the program runs, because classes may be loaded at any time.
     *
     * @throws java.nio.file.NoSuchFileException if a jar or directory does not exist
     */
    @SuppressWarnings("resource")
    static List<WorkerExtension> load(List<Path> places) throws IOException {
        List<URL> jars = new ArrayList<>();
        for (Path place : places) {
            if (Files.isDirectory(place)) {
                try (Stream<Path> files = Files.list(place)) {
                    for (Path jar : files.filter(file -> file.toString().endsWith(".jar"))
                            .sorted()
                            .toList()) {
                        jars.add(url(jar));
                    }
                }
            } else {
                jars.add(url(place.toRealPath()));
            }
        }
        ClassLoader loader = jars.isEmpty() ? ExtensionLoader.class.getClassLoader() : new ExtensionLoader(jars);
        List<WorkerExtension> extensions = new ArrayList<>();
        ServiceLoader.load(WorkerExtension.class, loader).forEach(extensions::add);
        return extensions;
    }

    private static URL url(Path file) throws MalformedURLException {
        return file.toUri().toURL();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = SHARED.stream().anyMatch(name::startsWith) ? null : own(name);
            if (found == null) {
                return super.loadClass(name, resolve);
            }
            if (resolve) {
                resolveClass(found);
            }
            return found;
        }
    }

    private @Nullable Class<?> own(String name) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
            return loaded;
        }
        try {
            return findClass(name);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }
}
