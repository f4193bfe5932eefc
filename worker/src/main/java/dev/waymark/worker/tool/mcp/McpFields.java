package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.secret.EnvironmentReferences;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import okhttp3.HttpUrl;

/** Reads the {@code mcp} field of agent files: {@code mcp: { name: …, command: […] }}, or with {@code url:}. */
public final class McpFields {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    private static final Set<String> CREDENTIALS = Set.of("url", "client", "secret", "scope");
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "::1");

    private final Path directory;

    /** @param directory the directory of the agent file */
    public McpFields(Path directory) {
        this.directory = directory;
    }

    /** Collects all problems of the entry. */
    public McpEntry read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        Optional<McpServer> server = problems.check(() -> server(fields));
        boolean trust = problems.read(fields.take("trust"), YamlValue::flag).orElse(false);
        boolean untrusted =
                problems.read(fields.take("untrusted"), YamlValue::flag).orElse(false);
        Optional<List<String>> allow = problems.read(fields.take("allow"), list -> list.items(YamlValue::text));
        Optional<YamlValue> approval = fields.take("approval");
        List<ApprovalRule> approveAll = problems.read(
                        approval.filter(given -> !given.isMapping()),
                        given -> ToolEntry.approval(given, Json.EMPTY_OBJECT))
                .orElse(List.of());
        Map<String, List<ApprovalRule>> approve = problems.read(
                        approval.filter(YamlValue::isMapping),
                        tools -> tools.entries((name, given) -> ToolEntry.approval(given, Json.EMPTY_OBJECT)))
                .orElse(Map.of());
        Duration timeout =
                problems.read(fields.take("timeout"), ToolEntry::timeout).orElse(ToolSpec.DEFAULT_TIMEOUT);
        boolean asks = problems.read(fields.take("on_unknown"), given -> given.oneOf("report", "ask"))
                .filter("ask"::equals)
                .isPresent();
        boolean deferred =
                problems.read(fields.take("deferred"), YamlValue::flag).orElse(false);
        problems.run(fields::end);
        problems.end();
        return new McpEntry(
                server.orElseThrow(), trust, allow, approveAll, approve, timeout, asks, untrusted, deferred);
    }

    private McpServer server(YamlFields fields) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Optional<String> name = problems.check(() -> name(fields.require("name")));
        Optional<YamlValue> url = fields.take("url");
        if (url.isPresent()) {
            problems.run(() -> fields.refuse(Set.of("command", "env"), "not allowed together with url"));
            Optional<String> address = problems.read(url, McpFields::url);
            Map<String, String> headers = problems.read(
                            fields.take("headers"), given -> given.entries(McpFields::header))
                    .orElse(Map.of());
            Optional<McpToken> token = problems.read(fields.take("token"), given -> token(given, headers.keySet()));
            problems.end();
            McpServer server = McpServer.at(name.orElseThrow(), address.orElseThrow(), headers);
            return token.map(server::withToken).orElse(server);
        }
        problems.run(() -> fields.refuse(Set.of("headers", "token"), "not allowed together with command"));
        Optional<List<String>> command = problems.check(() -> ToolEntry.program(fields.require("command"), directory));
        Map<String, String> env =
                problems.read(fields.take("env"), ToolEntry::environment).orElse(Map.of());
        problems.end();
        return McpServer.program(name.orElseThrow(), command.orElseThrow(), env);
    }

    /** Reads {@code token: { command: […] }}, or with {@code url:}, {@code client:} and {@code secret:}. */
    private McpToken token(YamlValue value, Set<String> headers) throws YamlProblem {
        if (headers.stream().anyMatch("Authorization"::equalsIgnoreCase)) {
            throw value.problem("not allowed together with the header Authorization");
        }
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        if (fields.has("command")) {
            problems.run(() -> fields.refuse(CREDENTIALS, "not allowed together with command"));
            Optional<List<String>> command =
                    problems.check(() -> ToolEntry.program(fields.require("command"), directory));
            Map<String, String> env =
                    problems.read(fields.take("env"), ToolEntry::environment).orElse(Map.of());
            problems.run(fields::end);
            problems.end();
            return McpToken.printedBy(command.orElseThrow(), env);
        }
        problems.run(() -> fields.refuse(Set.of("env"), "not allowed together with url"));
        Optional<String> url = problems.check(() -> tokenUrl(fields.require("url")));
        Optional<String> client = problems.check(() -> reference(fields.require("client")));
        Optional<String> secret = problems.check(() -> secret(fields.require("secret")));
        Optional<String> scope = problems.read(fields.take("scope"), YamlValue::text);
        problems.run(fields::end);
        problems.end();
        return McpToken.grantedTo(
                new McpToken.ClientCredentials(url.orElseThrow(), client.orElseThrow(), secret.orElseThrow(), scope));
    }

    /** Requires HTTPS, except on loopback, because the secret is sent there. */
    private static String tokenUrl(YamlValue value) throws YamlProblem {
        HttpUrl url = HttpUrl.get(url(value));
        if (!url.isHttps() && !LOOPBACK.contains(url.host())) {
            throw value.problem("expected an https address: the secret is sent there");
        }
        return url.toString();
    }

    private static String secret(YamlValue value) throws YamlProblem {
        String text = reference(value);
        if (EnvironmentReferences.names(text).isEmpty()) {
            throw value.problem("put the secret into an environment variable, as ${NAME}: agent files are recorded");
        }
        return text;
    }

    private static String reference(YamlValue value) throws YamlProblem {
        String text = value.text();
        if (!EnvironmentReferences.isWellFormed(text)) {
            throw value.problem("expected ${NAME}");
        }
        return text;
    }

    private static String name(YamlValue value) throws YamlProblem {
        String name = value.text();
        if (!NAME.matcher(name).matches()) {
            throw value.problem("a server's name has 1 to 64 characters A-Z a-z 0-9 _ -, found " + name);
        }
        return name;
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

    private static String header(String name, YamlValue value) throws YamlProblem {
        if (!HEADER.matcher(name).matches()) {
            throw value.problem("not a valid header name");
        }
        return reference(value);
    }
}
