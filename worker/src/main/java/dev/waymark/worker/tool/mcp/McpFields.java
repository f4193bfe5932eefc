package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpServer;
import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.secret.EnvironmentReferences;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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

    private final Path directory;

    /** @param directory the directory of the agent file */
    public McpFields(Path directory) {
        this.directory = directory;
    }

    public McpEntry read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        McpServer server = server(fields);
        Optional<YamlValue> trust = fields.take("trust");
        Optional<YamlValue> allow = fields.take("allow");
        Optional<YamlValue> approval = fields.take("approval");
        Optional<YamlValue> timeout = fields.take("timeout");
        Optional<YamlValue> onUnknown = fields.take("on_unknown");
        fields.end();
        boolean single = approval.isPresent() && approval.get().isMapping();
        return new McpEntry(
                server,
                trust.isPresent() && trust.get().flag(),
                allow.isPresent() ? Optional.of(texts(allow.get())) : Optional.empty(),
                approval.isPresent() && !single && ToolEntry.isAlways(approval.get()),
                single ? approvals(approval.get()) : Map.of(),
                timeout.isPresent() ? ToolEntry.timeout(timeout.get()) : ToolSpec.DEFAULT_TIMEOUT,
                onUnknown.isPresent() && onUnknown.get().oneOf("report", "ask").equals("ask"));
    }

    private McpServer server(YamlFields fields) throws YamlProblem {
        YamlValue nameValue = fields.require("name");
        String name = nameValue.text();
        if (!NAME.matcher(name).matches()) {
            throw nameValue.problem("a server's name has 1 to 64 characters A-Z a-z 0-9 _ -, found " + name);
        }
        Optional<YamlValue> url = fields.take("url");
        if (url.isPresent()) {
            fields.refuse(Set.of("command", "env"), "not allowed together with url");
            Optional<YamlValue> headers = fields.take("headers");
            return McpServer.at(name, url(url.get()), headers.isPresent() ? headers(headers.get()) : Map.of());
        }
        fields.refuse(Set.of("headers"), "not allowed together with command");
        List<String> command = ToolEntry.program(fields.require("command"), directory);
        Optional<YamlValue> env = fields.take("env");
        return McpServer.program(name, command, env.isPresent() ? ToolEntry.environment(env.get()) : Map.of());
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

    private static Map<String, String> headers(YamlValue value) throws YamlProblem {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> field : value.fields().takeAll().entrySet()) {
            String text = field.getValue().text();
            if (!HEADER.matcher(field.getKey()).matches()) {
                throw field.getValue().problem("not a valid header name");
            }
            if (!EnvironmentReferences.isWellFormed(text)) {
                throw field.getValue().problem("expected ${NAME}");
            }
            headers.put(field.getKey(), text);
        }
        return headers;
    }

    private static List<String> texts(YamlValue list) throws YamlProblem {
        List<String> texts = new ArrayList<>();
        for (YamlValue item : list.items()) {
            texts.add(item.text());
        }
        return texts;
    }

    private static Map<String, Boolean> approvals(YamlValue mapping) throws YamlProblem {
        Map<String, Boolean> approvals = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> tool : mapping.fields().takeAll().entrySet()) {
            approvals.put(tool.getKey(), ToolEntry.isAlways(tool.getValue()));
        }
        return approvals;
    }
}
