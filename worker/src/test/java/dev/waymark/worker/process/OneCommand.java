package dev.waymark.worker.process;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A worker that decides to run a program and prints that, runs the program on request, and prints how it ended. */
final class OneCommand {

    private OneCommand() {}

    /** @param words the timeout in milliseconds, the directory, the script */
    public static void main(String[] words) throws Exception {
        ProcessFence fence = ProcessFence.in(Duration.ofMillis(Long.parseLong(words[0])));
        ToolSpec tool = ToolSpec.command("tool", "/bin/sh", "-c", words[2])
                .timeout(fence.timeout())
                .build();
        System.out.println("decided");
        System.in.read();
        System.out.println(new CommandRunner(System.getenv())
                .run(
                        tool,
                        ((ToolImplementation.Command) tool.implementation()).program(),
                        Path.of(words[1]),
                        Json.EMPTY_OBJECT,
                        Map.of(),
                        fence));
    }
}
