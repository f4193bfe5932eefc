package dev.waymark.starter.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.value.Json;
import dev.waymark.starter.options.DecisionOptions;
import dev.waymark.starter.options.GrantOptions;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.DECIDE,
        examples = {
            "approve table-9 --by ann",
            "approve table-9 --args '{\"table\":9,\"cents\":8000}'",
            "approve table-9 --for 3-times --by ann"
        })
@Command(name = "approve", description = "Approves a call, and waits for the outcome.")
public final class ApproveCommand extends WaitingVerb {
    @Option(names = "--args", paramLabel = "JSON", description = "Arguments to use instead of the proposed ones.")
    private String args;

    @Mixin
    private DecisionOptions decision;

    @Mixin
    private GrantOptions grant;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        ApprovalDecided plain = decision.on(args == null ? Approval.approve() : Approval.edit(object(args)));
        ApprovalDecided approval = grant.terms().map(plain::granting).orElse(plain);
        return waiting(client -> {
            client.saved().restore(thread, ResumeOptions.onward());
            Optional<ApprovalDecided> reviewed = new ApprovalReview(output).review(client, thread, approval);
            if (reviewed.isEmpty()) {
                output.note("No decision was made; the call still waits.");
                return ExitCode.FAILED;
            }
            return OutcomeRenderer.print(output, decision.send(client, thread, reviewed.get()));
        });
    }

    private Json object(String text) {
        try {
            JsonNode tree = PayloadJson.MAPPER.readTree(text);
            if (tree.isObject()) {
                return Json.of(PayloadJson.MAPPER.convertValue(tree, Object.class));
            }
        } catch (JsonProcessingException | IllegalArgumentException e) {
            // The error below is the same for all invalid JSON.
        }
        throw new ParameterException(spec.commandLine(), "--args is not a JSON object: " + text);
    }
}
