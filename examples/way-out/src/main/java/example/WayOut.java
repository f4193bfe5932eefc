package example;

import dev.waymark.offline.OfflineThread;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Moment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints every state of a thread, or a checkpoint of it, from files. The files are what {@code temporal workflow show
 * --output json} prints for each run of the thread, oldest first.
 *
 * <pre>
 * java -jar way-out.jar trip.json                 every state: place, time, status, messages, what happened
 * java -jar way-out.jar trip.json --format thread a checkpoint: runner, thread, phases, messages, session, versions
 * java -jar way-out.jar trip.json --format thread --at 2
 * </pre>
 */
public final class WayOut {
    public static void main(String[] arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(arguments));
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
            System.out.println(thread.checkpoint(CheckpointFormat.of(format).orElseThrow()).canonical());
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

    private static String option(List<String> words, String name) {
        int at = words.indexOf(name);
        if (at < 0) {
            return "";
        }
        words.remove(at);
        return words.remove(at);
    }
}
