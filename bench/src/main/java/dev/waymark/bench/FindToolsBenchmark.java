package dev.waymark.bench;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.worker.tool.find.FindToolKind;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Measures what a model is sent of a thousand deferred tools, and whether it finds the right one. The queries were
 * written before the definitions, by somebody who saw only the names of the services.
 */
final class FindToolsBenchmark {
    private static final int LEAST_FOUND = 95;
    private static final int MOST_TOKENS = 10_000;
    /** A cautious estimate: JSON has about four bytes a token. */
    private static final int BYTES_PER_TOKEN = 3;

    private static final Pattern NAME = Pattern.compile("(?m)^\\{\"name\":\"([^\"]+)\"");

    private final BenchReport report;

    FindToolsBenchmark(BenchReport report) {
        this.report = report;
    }

    void run() throws Exception {
        List<ToolSpec> tools = ToolCatalog.tools();
        List<String> queries = ToolCatalog.lines("queries.txt");
        List<String> expected = ToolCatalog.lines("expected.txt");
        report.title("find-tools: " + tools.size() + " deferred tools");
        AgentSpec plain =
                new AgentSpec.Builder("plain", "fake:model").tools(tools).build();
        AgentSpec deferring = new AgentSpec.Builder("deferring", "fake:model")
                .deferred(DeferredTools.of(tools))
                .build();
        DeferredTools deferred = deferring.deferred().orElseThrow();
        int first = 0;
        int found = 0;
        long resultBytes = 0;
        long began = System.nanoTime();
        for (int i = 0; i < queries.size(); i++) {
            Set<String> right = Set.of(expected.get(i).split(" "));
            String result = FindToolKind.found(deferred, queries.get(i));
            List<String> hits = NAME.matcher(result)
                    .results()
                    .map((MatchResult match) -> match.group(1))
                    .toList();
            resultBytes += PayloadJson.MAPPER.writeValueAsBytes(result).length;
            first += !hits.isEmpty() && right.contains(hits.get(0)) ? 1 : 0;
            boolean isFound = hits.stream().anyMatch(right::contains);
            found += isFound ? 1 : 0;
            if (!isFound) {
                report.line("Not found: \"" + queries.get(i) + "\" should find " + right + ", found " + hits);
                report.line("");
            }
        }
        double millis = (System.nanoTime() - began) / 1e6 / queries.size();
        byte[] record = PayloadJson.MAPPER.writeValueAsBytes(deferring);
        long decoded = System.nanoTime();
        PayloadJson.MAPPER
                .readValue(record, AgentSpec.class)
                .deferred()
                .orElseThrow()
                .tools();
        report.head("", "deferred", "in every request");
        report.row(
                "tokens of definitions in a request, estimated",
                report.within(tokens(deferring), MOST_TOKENS, "%.0f"),
                BenchReport.text("%d", tokens(plain)));
        report.row("queries with the right tool among the first five", report.atLeast(found, LEAST_FOUND, "%.0f"), "");
        report.row("queries with the right tool first", first, "");
        report.row("tokens of a result, estimated", resultBytes / queries.size() / BYTES_PER_TOKEN, "");
        report.row("ms for a query", BenchReport.text("%.1f", millis), "");
        report.row(
                "bytes of the definitions in the agent's record",
                deferred.packedBytes(),
                PayloadJson.MAPPER.writeValueAsBytes(tools).length);
        report.row("ms to read them", BenchReport.text("%.1f", (System.nanoTime() - decoded) / 1e6), "");
        report.row(
                "bytes of their policies in the state",
                PayloadJson.MAPPER.writeValueAsBytes(AgentPolicies.of(deferring)).length,
                PayloadJson.MAPPER.writeValueAsBytes(AgentPolicies.of(plain)).length);
    }

    private static long tokens(AgentSpec agent) throws Exception {
        long bytes = 0;
        for (ToolSpec tool : agent.tools()) {
            bytes += PayloadJson.MAPPER.writeValueAsBytes(
                            Map.of("name", tool.name(), "description", tool.description(), "input", tool.input()))
                    .length;
        }
        return bytes / BYTES_PER_TOKEN;
    }
}
