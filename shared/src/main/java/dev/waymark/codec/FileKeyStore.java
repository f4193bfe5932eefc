package dev.waymark.codec;

import dev.waymark.saver.DirectoryLock;
import dev.waymark.saver.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Stores each entry as a JSON file in a directory. Only the owner may read the files.
 *
 * <p>An entry is written to a temporary file, forced to disk and then renamed, so a crash at any point leaves the old
 * entry or the new one. A new entry gets its name by a hard link, which fails if the name exists.
 */
public final class FileKeyStore implements KeyStore {
    private static final String ENTRY = ".json";

    private final Path directory;

    /**
     * The directory must exist. It is not created here: if its file system is not mounted, an empty directory would be
     * created instead, and the keys would seem to be missing.
     */
    public FileKeyStore(Path directory) {
        this.directory = directory.toAbsolutePath();
    }

    @Override
    public Optional<ThreadKeyEntry> find(String id) {
        Path file = file(id);
        try {
            return Optional.of(ThreadKeyEntry.parse(Files.readString(file), file.toString()));
        } catch (NoSuchFileException e) {
            requireDirectory();
            return Optional.empty();
        } catch (IOException e) {
            throw KeyStoreException.of("the key of a thread can't be read", file.toString(), e);
        }
    }

    @Override
    public boolean create(ThreadKeyEntry entry) {
        Path file = file(entry.id());
        try {
            requireDirectory();
            return PrivateFiles.createNew(file, entry.text() + "\n");
        } catch (IOException e) {
            throw KeyStoreException.of("the key of a thread can't be stored", file.toString(), e);
        }
    }

    @Override
    public boolean replace(ThreadKeyEntry known, ThreadKeyEntry entry) {
        Path file = file(entry.id());
        requireDirectory();
        try (DirectoryLock lock = DirectoryLock.take(directory)) {
            if (!find(known.id()).equals(Optional.of(known))) {
                return false;
            }
            PrivateFiles.replaceAndErase(file, entry.text() + "\n");
            return true;
        } catch (IOException e) {
            throw KeyStoreException.of("the key of a thread can't be stored", file.toString(), e);
        }
    }

    @Override
    public List<ThreadKeyEntry> all() {
        requireDirectory();
        List<ThreadKeyEntry> entries = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files.sorted()::iterator) {
                String name = file.getFileName().toString();
                if (name.endsWith(ENTRY) && !name.startsWith(".")) {
                    find(name.substring(0, name.length() - ENTRY.length())).ifPresent(entries::add);
                }
            }
        } catch (IOException e) {
            throw KeyStoreException.of("the keys of threads can't be listed", directory.toString(), e);
        }
        return entries;
    }

    private void requireDirectory() {
        if (!Files.isDirectory(directory)) {
            throw new KeyStoreException("there is no directory for the keys of threads: " + directory
                    + ". Mount it, or create it with: install -d -m 700 " + directory);
        }
    }

    private Path file(String id) {
        return directory.resolve(id + ENTRY);
    }
}
