package dev.waymark.saver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Stores each entry as a file of its own, directly in a directory, so that people can read and copy it. Only the owner
 * may read the files. For processes on one machine.
 *
 * <p>An entry is written to a temporary file, forced to disk and renamed over the old one, and the directory is forced
 * to disk too. So a crash at any point leaves the old or the new entry, and possibly a temporary file, which a later
 * change removes after an hour. Other files are left alone.
 */
public final class FileStore implements KeyValueStore {

    /** The age at which a temporary file counts as left over. No change takes that long. */
    private static final Duration DRAFT_IS_LEFT = Duration.ofHours(1);

    private final Path directory;
    private final String suffix;
    private final boolean erases;
    private final AtomicLong tidyAt = new AtomicLong(System.nanoTime());

    private FileStore(Path directory, String suffix, boolean erases) {
        this.directory = directory.toAbsolutePath();
        this.suffix = suffix;
        this.erases = erases;
    }

    /**
     * A store of the files in this directory that end with the suffix. The first change creates the directory.
     *
     * @param suffix begins with a dot, and is not {@code .id}
     */
    public static FileStore in(Path directory, String suffix) {
        return new FileStore(directory, suffix, false);
    }

    /**
     * A store that overwrites a value that is replaced with zeros. File systems that copy on write, and flash storage,
     * may still keep it.
     *
     * @param directory must exist. It is not created: if its file system is not mounted, an empty directory would be
     * created instead, and the entries would seem to be missing
     */
    public static FileStore erasingIn(Path directory, String suffix) {
        return new FileStore(directory, suffix, true);
    }

    @Override
    public Optional<String> get(String key) {
        Path file = fileOf(key);
        Optional<String> value = read(file);
        if (value.isEmpty()) {
            if (erases) {
                requireDirectory();
            } else if (Files.isRegularFile(directory)) {
                // Older JDKs report this themselves.
                throw unreadable(file, new FileSystemException(directory.toString(), null, "Not a directory"));
            }
        }
        return value;
    }

    @Override
    public void put(String key, String value) {
        exclusively(() -> {
            write(key, value);
            return true;
        });
    }

    @Override
    public boolean replace(String key, Optional<String> expected, String value) {
        return exclusively(() -> {
            if (!get(key).equals(expected)) {
                return false;
            }
            write(key, value);
            return true;
        });
    }

    /** Excludes other processes of this machine, too. */
    @Override
    public <T> T exclusively(Supplier<T> work) {
        if (erases) {
            requireDirectory();
        }
        try {
            PrivateFiles.createDirectories(directory);
            try (DirectoryLock lock = DirectoryLock.take(directory)) {
                return work.get();
            }
        } catch (IOException e) {
            throw SaverException.failed("the directory can't be locked", directory.toString(), e);
        }
    }

    private void write(String key, String value) {
        EntryFileName name = EntryFileName.of(key);
        Path file = fileOf(key);
        try {
            if (name.isHashed()) {
                PrivateFiles.replace(directory.resolve(name.idName()), key);
            }
            if (erases && Files.exists(file)) {
                PrivateFiles.replaceAndErase(file, value);
            } else {
                PrivateFiles.replace(file, value);
            }
        } catch (IOException e) {
            throw SaverException.failed("the file can't be written", file.toString(), e);
        }
        tidy();
    }

    @Override
    public void delete(String key) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        Path file = fileOf(key);
        try (DirectoryLock lock = DirectoryLock.take(directory)) {
            boolean deleted = Files.deleteIfExists(file);
            EntryFileName name = EntryFileName.of(key);
            if (name.isHashed()) {
                Files.deleteIfExists(directory.resolve(name.idName()));
            }
            if (deleted) {
                PrivateFiles.force(directory);
            }
        } catch (IOException e) {
            throw SaverException.failed("the file can't be deleted", file.toString(), e);
        }
    }

    @Override
    public List<String> list(String prefix) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.flatMap(path -> EntryFileName.read(path.getFileName().toString(), suffix).stream())
                    .map(this::key)
                    .filter(key -> key.startsWith(prefix))
                    .toList();
        } catch (NoSuchFileException e) {
            if (erases) {
                requireDirectory();
            }
            return List.of();
        } catch (IOException e) {
            throw SaverException.failed("the files can't be listed", directory.toString(), e);
        }
    }

    private String key(EntryFileName name) {
        if (!name.isHashed()) {
            return name.key().orElseThrow();
        }
        // A file without its id file was copied, or it was deleted during a change.
        return read(directory.resolve(name.idName()))
                .filter(key -> EntryFileName.of(key).equals(name))
                .orElseGet(() -> threadIdInside(name));
    }

    private String threadIdInside(EntryFileName name) {
        Path file = directory.resolve(name.withSuffix(suffix));
        return read(file)
                .map(text -> CheckpointText.read(text, file.toString()))
                .map(CheckpointText::threadId)
                .filter(id -> EntryFileName.of(id).equals(name))
                .orElseThrow(() -> SaverException.corrupt(file.toString(), "its thread id is not known"));
    }

    private static Optional<String> read(Path file) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (CharacterCodingException e) {
            throw SaverException.corrupt(file.toString(), "not UTF-8");
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    private static SaverException unreadable(Path file, IOException cause) {
        return SaverException.failed("the file can't be read", file.toString(), cause);
    }

    private void requireDirectory() {
        if (!Files.isDirectory(directory)) {
            throw SaverException.refused(
                    "there is no directory " + directory + ". Mount it, or create it with: install -d -m 700 "
                            + directory,
                    "Then try again");
        }
    }

    @Override
    public String place(String key) {
        return fileOf(key).toString();
    }

    private Path fileOf(String key) {
        return directory.resolve(EntryFileName.of(key).withSuffix(suffix));
    }

    /** Removes temporary files of killed processes, at most once an hour, because this lists the whole directory. */
    private void tidy() {
        long due = tidyAt.get();
        if (due - System.nanoTime() > 0 || !tidyAt.compareAndSet(due, System.nanoTime() + DRAFT_IS_LEFT.toNanos())) {
            return;
        }
        Instant left = Instant.now().minus(DRAFT_IS_LEFT);
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (PrivateFiles.isDraft(file)
                        && Files.getLastModifiedTime(file).toInstant().isBefore(left)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // The entry is stored, and another process may be removing the same files.
        }
    }
}
