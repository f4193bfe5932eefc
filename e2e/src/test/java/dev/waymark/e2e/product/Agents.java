package dev.waymark.e2e.product;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Agents whose models read from a script, written into a directory. */
public final class Agents {
    private final Path directory;

    public Agents(Path directory) {
        this.directory = directory;
    }

    public Path directory() {
        return directory;
    }

    /** Asks for the day, then books. */
    public Agents assistant() {
        return agent("assistant", "tools: [{ use: ask_user }]", """
                replies:
                  - text: One thing first.
                    tool_calls: [{ id: tu_7, name: ask_user, input: { question: "Which day?" } }]
                    usage: { input_tokens: 41, output_tokens: 12 }
                  - text: Booked.
                    usage: { input_tokens: 66, output_tokens: 6 }
                """);
    }

    /** Never asks. */
    public Agents greeter() {
        return agent("greeter", "", "replies: [{ text: Hello. }]");
    }

    /** Takes its time. */
    public Agents slow(String name, String delay) {
        return agent(name, "", "replies: [{ text: At last., delay: " + delay + " }]");
    }

    private Agents agent(String name, String more, String script) {
        try {
            Files.writeString(
                    directory.resolve(name + ".yaml"), "model: scripted:" + name + ".script.yaml\n" + more + "\n");
            Files.writeString(directory.resolve(name + ".script.yaml"), script);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }
}
