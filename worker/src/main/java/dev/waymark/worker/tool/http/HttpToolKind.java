package dev.waymark.worker.tool.http;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolPrograms;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Optional;

/** Tools that are HTTP requests: {@code http: { method: POST, url: … }}. They may have a program that verifies them. */
public final class HttpToolKind implements ToolKind<ToolImplementation.Http> {
    private final HttpRunner requests;
    private final ToolPrograms programs;

    public HttpToolKind(HttpRunner requests, ToolPrograms programs) {
        this.requests = requests;
        this.programs = programs;
    }

    @Override
    public Optional<String> field() {
        return Optional.of("http");
    }

    @Override
    public ToolSpec.Builder read(YamlValue value, ToolEntry entry) throws YamlProblem {
        return ToolSpec.http(entry.name(), HttpFields.endpoint(value, entry.fields(), entry.input()));
    }

    @Override
    public Optional<ToolOutcome> problem(ToolImplementation.Http http, ToolSpec tool, Json args) {
        return requests.misfit(http.endpoint(), args)
                .map(why -> ToolOutcome.notDone(ToolTexts.invalidInput(tool.name(), why)));
    }

    @Override
    public ToolOutcome run(ToolImplementation.Http http, ToolRun run) throws InterruptedException {
        if (run.fence().left().isZero()) {
            return run.tooLate();
        }
        HttpResult result = requests.run(http.endpoint(), run.args(), run.effectKeys(), run.fence());
        return result.effect().outcome(result.words());
    }

    @Override
    public VerifyOutcome verify(ToolRun run) throws InterruptedException {
        return programs.verify(run);
    }

    @Override
    public void close() {
        requests.close();
    }
}
