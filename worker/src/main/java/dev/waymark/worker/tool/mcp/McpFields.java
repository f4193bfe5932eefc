package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import okhttp3.HttpUrl;

/** Reads the {@code mcp} field of agent files: {@code mcp: { name: …, command: […] }}, or with {@code url:}. */
public final class McpFields {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "::1");

    private final Path directory;

    /** @param directory the directory of the agent file */
    public McpFields(Path directory) {
        this.directory = directory;
    }

    public McpEntry read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        Optional<YamlValue> approval = fields.take("approval");
        return new McpEntry(
                server(fields),
                fields.isSet("trust"),
                fields.read("allow", list -> list.items(YamlValue::text)),
                approval.filter(given -> !given.isMapping())
                        .flatMap(given -> given.read(McpFields::rules))
                        .orElse(List.of()),
                approval.filter(YamlValue::isMapping)
                        .flatMap(given -> given.read(tools -> tools.entries((tool, rules) -> rules(rules))))
                        .orElse(Map.of()),
                fields.read("timeout", YamlValue::duration).orElse(ToolSpec.DEFAULT_TIMEOUT),
                fields.is("on_unknown", "ask"),
                fields.isSet("untrusted"),
                fields.isSet("deferred"));
    }

    private static List<ApprovalRule> rules(YamlValue value) throws YamlProblem {
        return ToolEntry.approval(value, Json.EMPTY_OBJECT);
    }

    private McpServer server(YamlFields fields) throws YamlProblem {
        String name = fields.require("name", YamlValue::text);
        if (!fields.has("url")) {
            return McpServer.program(name, program(fields), texts(fields, "env"));
        }
        Map<String, String> headers = texts(fields, "headers");
        McpServer server = McpServer.at(name, fields.require("url", McpFields::url), headers);
        return fields.read("token", given -> token(given, headers.keySet()))
                .map(server::withToken)
                .orElse(server);
    }

    private List<String> program(YamlFields fields) throws YamlProblem {
        return fields.require("command", command -> ToolEntry.program(command, directory));
    }

    private static Map<String, String> texts(YamlFields fields, String name) {
        return fields.read(name, ToolEntry::texts).orElse(Map.of());
    }

    /** Reads {@code token: { command: […] }}, or with {@code url:}, {@code client:} and {@code secret:}. */
    private McpToken token(YamlValue value, Set<String> headers) throws YamlProblem {
        if (headers.stream().anyMatch("Authorization"::equalsIgnoreCase)) {
            throw value.problem("not allowed together with the header Authorization");
        }
        YamlFields fields = value.fields();
        return fields.has("command")
                ? McpToken.printedBy(program(fields), texts(fields, "env"))
                : McpToken.grantedTo(new McpToken.ClientCredentials(
                        fields.require("url", McpFields::tokenUrl),
                        fields.require("client", YamlValue::text),
                        fields.require("secret", YamlValue::text),
                        fields.read("scope", YamlValue::text)));
    }

    /** Requires HTTPS, except on loopback, because the secret is sent there. */
    private static String tokenUrl(YamlValue value) throws YamlProblem {
        HttpUrl url = HttpUrl.get(url(value));
        if (!url.isHttps() && !LOOPBACK.contains(url.host())) {
            throw value.problem("expected an https address: the secret is sent there");
        }
        return url.toString();
    }

    private static String url(YamlValue value) throws YamlProblem {
        String url = value.text();
        HttpUrl parsed = HttpUrl.parse(url);
        if (parsed == null) {
            throw value.problem("expected an http or https address");
        }
        if (!parsed.username().isEmpty() || !parsed.password().isEmpty()) {
            throw value.problem("put credentials into headers, as ${NAME}: URLs are recorded");
        }
        return url;
    }
}
