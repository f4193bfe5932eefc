package dev.waymark.e2e.examples;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.Agent;
import java.util.List;

/** Asks a person about calls that the model makes after it has read mail. */
final class UntrustedMail {
    private UntrustedMail() {}

    static Agent clerk() {
        return Agent.named("clerk")
                .model("anthropic:claude-sonnet-4-6")
                .tools(
                        ToolSpec.command("read_mail", "./tools/read-mail.sh")
                                .safeToRetry()
                                .untrusted()
                                .build(),
                        ToolSpec.command("refund", "./tools/refund.sh")
                                .rules(List.of(
                                        ApprovalRule.ask("a stranger's words may be behind this")
                                                .whenUntrusted(ApprovalRule.Untrusted.EVER),
                                        ApprovalRule.allow("nothing read")))
                                .build())
                .build();
    }
}
