package example;

import dev.waymark.offline.OfflineThread;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Moment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints every state of a thread, or a checkpoint of it, from files. The files are what {@code temporal workflow show
 * --output json} prints for each run of the thread.
 */
public final class WayOut {
    private static final String USAGE = """
            java -jar way-out.jar trip.json                  every state: place, time, status, messages, what happened
            java -jar way-out.jar trip.json --format thread  a checkpoint: runner, thread, phases, messages, session, versions
            java -jar way-out.jar trip.json --format thread --at 2
            """;

    public static void main(String[] arguments) throws IOException {
        try {
            print(new ArrayList<>(List.of(arguments)));
        } catch (NoSuchFileException e) {
            fail("no such file: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            fail(e.getMessage());
        }
    }

    private static void fail(String problem) {
        System.err.print(problem + "\n\n" + USAGE);
        System.exit(2);
    }

    private static void print(List<String> words) throws IOException {
        String format = option(words, "--format");
        String place = option(words, "--at");
        List<String> documents = new ArrayList<>();
        for (String file : words) {
            documents.add(Files.readString(Path.of(file)));
        }
        OfflineThread thread = OfflineThread.of(documents, System.getenv());
        if (!place.isEmpty()) {
            thread = thread.at(place).orElseThrow(() -> new IllegalArgumentException("no such version: " + place));
        }
        if (format.isEmpty()) {
            thread.timeline().moments().forEach(moment -> System.out.println(line(moment)));
        } else {
            System.out.println(thread.checkpoint(checkpointFormat(format)).canonical());
        }
    }

    private static String line(Moment moment) {
        String happened = moment.fact().map(fact -> fact.getClass().getSimpleName()).orElse("Continued");
        return String.join(
                "\t",
                moment.place().toString(),
                moment.at().toString(),
                moment.status().status(),
                moment.messages().size() + " messages",
                happened);
    }

    private static CheckpointFormat checkpointFormat(String name) {
        return CheckpointFormat.of(name).orElseThrow(() -> new IllegalArgumentException("no such format: " + name));
    }

    private static String option(List<String> words, String name) {
        int at = words.indexOf(name);
        if (at < 0) {
            return "";
        }
        if (at == words.size() - 1) {
            throw new IllegalArgumentException(name + " needs a value");
        }
        words.remove(at);
        return words.remove(at);
    }
}
