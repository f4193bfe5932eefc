package dev.waymark.saver;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Creates files and directories for conversations that only their owner can read, from the moment they exist. On file
 * systems without permissions, they are ordinary files and directories.
 */
public final class PrivateFiles {
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final String DRAFT = ".tmp";
    private static final Pattern DRAFTS = Pattern.compile("\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.tmp");
    private static final boolean CAN_FORCE_DIRECTORIES = File.separatorChar == '/';
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private PrivateFiles() {}

    /** The attributes with which to create this file. */
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

    /** Makes a file private, if it exists and belongs to the user of this process. */
    public static void restrict(Path file) {
        if (Files.isRegularFile(file) && hasPermissions(file)) {
            try {
                Files.setPosixFilePermissions(file, FILE);
            } catch (IOException e) {
                // Only the owner of the file can change its permissions.
            }
        }
    }

    /** Creates a directory, which must not exist. */
    public static void createDirectory(Path directory) throws IOException {
        Files.createDirectory(directory, attributes(directory, DIRECTORY));
    }

    /** Creates a directory and its missing parents durably. Existing directories are not changed. */
    public static void createDirectories(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath();
        if (Files.isDirectory(absolute)) {
            return;
        }
        Path parent = absolute.getParent();
        if (parent != null) {
            createDirectories(parent);
        }
        try {
            createDirectory(absolute);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(absolute)) {
                throw e;
            }
        }
        if (parent != null) {
            force(parent);
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

    /**
     * Replaces a file durably, or creates it. A crash at any point leaves the old or the new text, and perhaps a {@link
     * #isDraft draft} beside it.
     *
     * @throws IOException if the file has the old text, or if it has the new text but the disk did not confirm that the
     * rename is durable, so that a crash of the machine may undo it
     */
    public static void replace(Path file, String text) throws IOException {
        Path draft = file.resolveSibling("." + UUID.randomUUID() + DRAFT);
        try {
            write(draft, text);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            Files.deleteIfExists(draft);
            throw e;
        }
        force(Objects.requireNonNull(file.toAbsolutePath().getParent()));
    }

    /**
     * Replaces an existing file durably, as {@link #replace} does, and then overwrites the old text with zeros. File
     * systems that copy on write, and flash storage, may still keep the old text.
     */
    public static void replaceAndErase(Path file, String text) throws IOException {
        try (FileChannel old = FileChannel.open(file, StandardOpenOption.WRITE)) {
            replace(file, text);
            write(old, ByteBuffer.allocate((int) old.size()));
        }
    }

    private static void write(Path draft, String text) throws IOException {
        try (FileChannel channel = FileChannel.open(
                draft, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), fileAttributes(draft))) {
            write(channel, StandardCharsets.UTF_8.encode(text));
        }
    }

    private static void write(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        channel.force(true);
    }

    /** Whether this is a temporary file of this class, which is being written or was left behind. */
    static boolean isDraft(Path file) {
        return DRAFTS.matcher(file.getFileName().toString()).matches();
    }

    /**
     * Forces the entries of a directory to disk. Without this, a crash of the machine may undo a rename. Windows
     * neither supports nor needs it.
     */
    static void force(Path directory) throws IOException {
        if (CAN_FORCE_DIRECTORIES) {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
