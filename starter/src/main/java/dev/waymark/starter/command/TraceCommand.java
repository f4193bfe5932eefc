package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadTracer;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.trace.CollectorException;
import dev.waymark.client.trace.OtlpExporter;
import dev.waymark.client.trace.SpanFile;
import dev.waymark.client.trace.SpanSink;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.ShutdownHandler;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.LOOK,
        examples = {"trace trip --to http://127.0.0.1:4318/v1/traces", "trace --all --follow"})
@Command(
        name = "trace",
        description = {
            "Exports a thread as OpenTelemetry spans, via OTLP over HTTP or to a file.",
            "Exporting a thread again adds nothing, because span ids are derived from its history. Work that is still running is left out."
        })
public final class TraceCommand implements Callable<Integer> {
    private static final long PAUSE_MILLIS = 2_000;

    @Mixin
    private Output output;

    @Parameters(
            index = "0",
            paramLabel = "THREAD",
            arity = "0..1",
            description = ThreadHelp.ID + " Required unless --all is given.")
    private String thread;

    @Option(names = "--all", description = "Export all threads on the server.")
    private boolean all;

    @Option(names = "--follow", description = "Keep exporting new spans as threads progress, until SIGTERM or Ctrl-C.")
    private boolean follow;

    @Option(
            names = "--to",
            paramLabel = "URL",
            description =
                    "The collector's URL for traces. Default: OTEL_EXPORTER_OTLP_ENDPOINT followed by /v1/traces, or"
                            + " http://127.0.0.1:4318/v1/traces.")
    private String url;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Write OTLP as JSON to this file, one request per line, and send nothing.")
    private Path file;

    @Option(names = "--content", description = "Include messages, arguments and results.")
    private boolean content;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (all == (thread != null)) {
            throw new ParameterException(spec.commandLine(), "trace needs either THREAD or --all");
        }
        if (url != null && file != null) {
            throw new ParameterException(spec.commandLine(), "--to can't be combined with --out");
        }
        try (SpanSink sink = sink();
                AgentClient client = SaverOptions.reader()) {
            ThreadTracer tracer = client.inspector().tracer(content);
            Optional<String> one = Optional.ofNullable(thread).map(client.lists()::find);
            ThreadTracer.Follower follower = tracer.into(sink);
            int spans = round(follower, tracer, one);
            if (follow) {
                spans += follow(follower, tracer, one);
            }
            tell(one, spans);
            return ExitCode.DONE;
        } catch (CollectorException e) {
            throw new WaymarkException.Refused(
                    ProblemType.COLLECTOR_FAILED,
                    String.valueOf(e.getMessage()),
                    "Name the collector with --to URL, or write a file with --out FILE");
        }
    }

    private SpanSink sink() throws IOException {
        if (file != null) {
            return new SpanFile(file, OtlpExporter.serviceName(ProcessEnvironment.get()));
        }
        try {
            return OtlpExporter.of(Optional.ofNullable(url), ProcessEnvironment.get());
        } catch (IllegalArgumentException e) {
            throw new WaymarkException.Refused(ProblemType.BAD_INPUT, String.valueOf(e.getMessage()), "");
        }
    }

    private static int round(ThreadTracer.Follower follower, ThreadTracer tracer, Optional<String> one) {
        return follower.round(one.map(List::of).orElseGet(tracer::roots));
    }

    private int follow(ThreadTracer.Follower follower, ThreadTracer tracer, Optional<String> one) {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        int spans = 0;
        ShutdownHandler termination = ShutdownHandler.listen(() -> {
            asked.countDown();
            return await(done, TimeUnit.SECONDS.toMillis(10)) ? ExitCode.DONE : ExitCode.NOT_SAVED;
        });
        try {
            boolean last = false;
            while (!last) {
                last = await(asked, PAUSE_MILLIS);
                spans += round(follower, tracer, one);
            }
            return spans;
        } finally {
            done.countDown();
            termination.close();
        }
    }

    private static boolean await(CountDownLatch latch, long millis) {
        try {
            return latch.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private void tell(Optional<String> one, int spans) {
        if (output.isJson()) {
            ObjectNode document = PayloadJson.MAPPER.createObjectNode();
            one.ifPresent(id -> document.put("thread", id));
            output.document(document.put("spans", spans));
        } else {
            output.line(one.map(id -> id + ": ").orElse("") + OneLine.count(spans, "span"));
        }
    }
}
