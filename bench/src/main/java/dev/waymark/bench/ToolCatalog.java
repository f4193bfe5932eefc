package dev.waymark.bench;

import dev.waymark.agent.McpServer;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The definitions of tools in {@code find-tools/tools.txt}, which says how it is written. */
final class ToolCatalog {
    private static final Map<Character, String> TYPES =
            Map.of('i', "integer", 'b', "boolean", 'a', "array", 'o', "object");

    private ToolCatalog() {}

    static List<String> lines(String file) {
        try (InputStream in = ToolCatalog.class.getResourceAsStream("/find-tools/" + file)) {
            return new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<ToolSpec> tools() {
        List<ToolSpec> tools = new ArrayList<>();
        String[] service = {};
        for (String line : lines("tools.txt")) {
            if (line.startsWith("=")) {
                service = line.substring(2).split(" ");
            } else if (!line.startsWith("#") && !line.isBlank()) {
                String[] parts = line.replaceFirst("^\\+ ", "").split(" \\| ?", -1);
                if (!line.startsWith("+")) {
                    int last = parts.length - 1;
                    String words = Stream.of(parts).skip(1).limit(last - 1).collect(Collectors.joining(" | "));
                    tools.add(tool(service[0], parts[0], words, parts[last]));
                } else {
                    for (String verb : parts[2].split(" ")) {
                        tools.add(expanded(service, verb, parts));
                    }
                }
            }
        }
        return tools;
    }

    private static ToolSpec expanded(String[] service, String verb, String[] parts) {
        boolean isMany = verb.equals("list") || verb.equals("search");
        String object = isMany ? parts[1] : parts[0];
        String action = verb.equals("get") ? "retrieve" : verb;
        String capital = capital(action) + " " + (isMany ? "" : service[2].equals("api") ? "the " : "a ") + object;
        String words = switch (service[2]) {
            case "long" -> capital + " in " + capital(service[0]) + ".";
            case "wide" ->
                "This tool will " + capital.substring(0, 1).toLowerCase(Locale.ROOT) + capital.substring(1) + " in "
                        + capital(service[0]) + ".";
            default -> capital;
        };
        String plain = verb + " " + object;
        String name = switch (service[1]) {
            case "snake" -> plain.toLowerCase(Locale.ROOT).replace(' ', '_');
            case "kebab" -> plain.toLowerCase(Locale.ROOT).replace(' ', '-');
            default ->
                verb + Stream.of(object.split(" ")).map(ToolCatalog::capital).collect(Collectors.joining());
        };
        boolean writes = verb.equals("create") || verb.equals("update");
        return tool(service[0], name, words, writes ? parts[3] : parts[3].split(" ")[0]);
    }

    private static ToolSpec tool(String service, String name, String words, String arguments) {
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        for (String argument :
                arguments.isBlank() ? new String[0] : arguments.strip().split(" ")) {
            String[] parts = argument.replace("*", "").split(":");
            properties.put(parts[0], Map.of("type", parts.length == 1 ? "string" : TYPES.get(parts[1].charAt(0))));
            if (argument.endsWith("*")) {
                required.add(parts[0]);
            }
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("required", required);
        McpServer server = McpServer.at(service, "https://" + service + ".example/mcp", Map.of());
        return ToolSpec.mcp(service + "_" + name, server, name)
                .describedAs(words, Json.of(schema))
                .build();
    }

    private static String capital(String word) {
        return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
    }
}
