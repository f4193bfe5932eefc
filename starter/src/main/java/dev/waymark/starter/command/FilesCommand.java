package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.SafeText;
import dev.waymark.display.Suggestion;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.starter.render.TextTable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@HelpEntry(
        group = CommandGroup.LOOK,
        examples = {"files trip", "files trip NOTES.md"})
@Command(name = "files", description = "Lists the files that the agent has stored in the thread, or prints one.")
public final class FilesCommand extends ThreadVerb {
    @Parameters(index = "1", paramLabel = "NAME", arity = "0..1", description = "The file to print.")
    private String name;

    @Override
    public Integer call() {
        return reading(client -> {
            Map<String, String> files = new LinkedHashMap<>();
            client.timeline(thread)
                    .now()
                    .workspace()
                    .files()
                    .toMap()
                    .forEach((path, file) -> files.put(path, file.content()));
            if (name == null) {
                list(files);
            } else {
                print(files);
            }
            return ExitCode.DONE;
        });
    }

    private void list(Map<String, String> files) {
        if (output.isJson()) {
            List<Map<String, Object>> rows = new ArrayList<>();
            files.forEach((path, content) -> {
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("path", path);
                row.put("bytes", bytes(content));
                rows.add(row);
            });
            output.document(JsonDocuments.tree(rows));
            return;
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("FILE", "BYTES"));
        files.forEach((path, content) -> rows.add(List.of(SafeText.line(path), String.valueOf(bytes(content)))));
        TextTable.print(output, rows);
    }

    private void print(Map<String, String> files) {
        String content = Optional.ofNullable(files.get(name))
                .orElseThrow(() -> new WaymarkException.NotFound(
                        "no such file in the thread: " + name, Suggestion.question(name, files.keySet())));
        if (output.isJson()) {
            output.document(JsonDocuments.tree(Json.of(Map.of("path", name, "content", content))));
        } else {
            output.raw(content);
        }
    }

    private static int bytes(String content) {
        return content.getBytes(StandardCharsets.UTF_8).length;
    }
}
