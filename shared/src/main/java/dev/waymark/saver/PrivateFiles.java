package dev.waymark.saver;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Creates files and directories for conversations, readable by their owner only from the moment they exist. On file
 * systems without permissions they are ordinary ones.
 */
public final class PrivateFiles {
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private PrivateFiles() {}

    /** The attributes to create this file with. */
    public static FileAttribute<?>[] fileAttributes(Path file) {
        return attributes(file, FILE);
    }

    /** Creates an empty file, or makes an existing one private. */
    public static void create(Path file) throws IOException {
        try {
            Files.createFile(file, fileAttributes(file));
        } catch (FileAlreadyExistsException e) {
            restrict(file);
        }
    }

    /** Makes a file private, if it exists and has the same owner. */
    public static void restrict(Path file) {
        if (Files.isRegularFile(file) && hasPermissions(file)) {
            try {
                Files.setPosixFilePermissions(file, FILE);
            } catch (IOException e) {
                // Only its owner can do that.
            }
        }
    }

    /** Creates a directory, which must not exist. */
    public static void createDirectory(Path directory) throws IOException {
        Files.createDirectory(directory, attributes(directory, DIRECTORY));
    }

    /** Creates a directory and its missing parents. Existing ones are not changed. */
    public static void createDirectories(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath();
        if (Files.isDirectory(absolute)) {
            return;
        }
        if (absolute.getParent() != null) {
            createDirectories(absolute.getParent());
        }
        try {
            createDirectory(absolute);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(absolute)) {
                throw e;
            }
        }
    }

    private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> permissions) {
        return hasPermissions(path)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
                : new FileAttribute<?>[0];
    }

    private static boolean hasPermissions(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }
}
