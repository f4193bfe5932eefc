package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Stores each checkpoint as a JSON file of its own, directly in a directory, so that people can read and copy it.
 *
 * <p>A document is written to a temporary file, forced to disk and renamed over the old one, and the directory is
 * forced to disk too. So a crash at any point leaves the old or the new document, and possibly a temporary file, which
 * a later save removes after an hour. Other files are left alone.
 */
public final class FileSaver implements CheckpointSaver {

    /** The age at which a temporary file counts as left over. No save takes that long. */
    private static final Duration DRAFT_IS_LEFT = Duration.ofHours(1);

    private final Path directory;
    private final AtomicLong tidyAt = new AtomicLong(System.nanoTime());

    /** The directory is created by the first save. */
    public FileSaver(Path directory) {
        this.directory = directory;
    }

    /** A namespace is a subdirectory; the default namespace is the directory itself. */
    public FileSaver(Path directory, Namespace namespace) {
        this(namespace.equals(Namespace.DEFAULT) ? directory : directory.resolve(EscapedName.of(namespace.name())));
    }

    @Override
    public void save(Json checkpoint) {
        String threadId = CheckpointText.threadId(checkpoint);
        String text = CheckpointText.writeIndented(checkpoint) + "\n";
        EntryFileName file = EntryFileName.of(threadId);
        Path target = directory.resolve(file.documentName());
        load(threadId);
        try {
            createDirectory(directory.toAbsolutePath());
            if (file.isHashed()) {
                PrivateFiles.replace(directory.resolve(file.idName()), threadId);
            }
            PrivateFiles.replace(target, text);
            tidy();
        } catch (IOException e) {
            throw SaverException.failed("the checkpoint can't be saved", target.toString(), e);
        }
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        String threadId = CheckpointText.threadId(checkpoint);
        try {
            createDirectory(directory.toAbsolutePath());
            try (DirectoryLock lock = DirectoryLock.take(directory)) {
                Optional<CheckpointOwner> stored = owner(threadId);
                CheckpointOwner next = owner.replacing(stored, threadId);
                if (!stored.equals(Optional.of(next))) {
                    writeOwner(threadId, next);
                }
                save(checkpoint);
            }
        } catch (IOException e) {
            throw SaverException.failed("the checkpoint can't be saved", directory.toString(), e);
        }
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        Path file = ownerFileOf(threadId);
        return read(file).map(text -> CheckpointOwner.read(text, threadId, file.toString()));
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        try {
            createDirectory(directory.toAbsolutePath());
            try (DirectoryLock lock = DirectoryLock.take(directory)) {
                owner.checkSuccession(owner(threadId), threadId);
                writeOwner(threadId, owner);
            }
        } catch (IOException e) {
            throw SaverException.failed(
                    "the owner of the checkpoint can't be saved",
                    ownerFileOf(threadId).toString(),
                    e);
        }
    }

    private void writeOwner(String threadId, CheckpointOwner owner) throws IOException {
        PrivateFiles.replace(ownerFileOf(threadId), CheckpointText.writeIndented(owner.json(threadId)) + "\n");
    }

    @Override
    public Optional<Json> load(String threadId) {
        Path file = fileOf(threadId);
        return read(file).map(text -> CheckpointText.read(text, threadId, file.toString()));
    }

    @Override
    public List<String> list() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.flatMap(path -> EntryFileName.read(path.getFileName().toString()).stream())
                    .map(this::threadId)
                    .sorted()
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw SaverException.failed("the checkpoints can't be listed", directory.toString(), e);
        }
    }

    @Override
    public void delete(String threadId) {
        EntryFileName file = EntryFileName.of(threadId);
        Path document = directory.resolve(file.documentName());
        try {
            boolean deleted = Files.deleteIfExists(document);
            Files.deleteIfExists(ownerFileOf(threadId));
            if (file.isHashed()) {
                Files.deleteIfExists(directory.resolve(file.idName()));
            }
            if (deleted) {
                PrivateFiles.force(directory);
            }
        } catch (IOException e) {
            throw SaverException.failed("the checkpoint can't be deleted", document.toString(), e);
        }
    }

    @Override
    public boolean exists(String threadId) {
        Path file = fileOf(threadId);
        try {
            Files.readAttributes(file, BasicFileAttributes.class);
            return true;
        } catch (NoSuchFileException e) {
            // Newer JDKs also throw this if a parent is a regular file.
            if (Files.isRegularFile(directory)) {
                throw SaverException.failed(
                        "the checkpoint can't be looked up",
                        file.toString(),
                        new FileSystemException(directory.toString(), null, "Not a directory"));
            }
            return false;
        } catch (IOException e) {
            throw SaverException.failed("the checkpoint can't be looked up", file.toString(), e);
        }
    }

    private Path ownerFileOf(String threadId) {
        return directory.resolve(EntryFileName.of(threadId).ownerName());
    }

    private Path fileOf(String threadId) {
        return directory.resolve(EntryFileName.of(threadId).documentName());
    }

    private String threadId(EntryFileName file) {
        if (!file.isHashed()) {
            return file.threadId().orElseThrow();
        }
        // A document without its id file was copied, or its thread was deleted during a save.
        return readable(file.idName())
                .filter(id -> EntryFileName.of(id).equals(file))
                .orElseGet(() -> threadIdInside(file));
    }

    private String threadIdInside(EntryFileName file) {
        String place = directory.resolve(file.documentName()).toString();
        return readable(file.documentName())
                .map(text -> CheckpointText.threadId(CheckpointText.read(text, place)))
                .filter(id -> EntryFileName.of(id).equals(file))
                .orElseThrow(() -> SaverException.corrupt(place, "its thread id is not known"));
    }

    private Optional<String> readable(String fileName) {
        return read(directory.resolve(fileName));
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
            throw SaverException.failed("the checkpoint can't be read", file.toString(), e);
        }
    }

    private static void createDirectory(Path missing) throws IOException {
        if (Files.isDirectory(missing)) {
            return;
        }
        Path parent = missing.getParent();
        if (parent != null) {
            createDirectory(parent);
        }
        try {
            PrivateFiles.createDirectory(missing);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(missing)) {
                throw e;
            }
        }
        if (parent != null) {
            PrivateFiles.force(parent);
        }
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
            // The checkpoint is saved, and another process may be removing the same files.
        }
    }
}
