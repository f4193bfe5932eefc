package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;

/** Reads {@code approvals} of an agent file. */
final class ApprovalFields {
    private ApprovalFields() {}

    static AgentSpec.Approvals read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        WaitRule waiting = new WaitRule(
                fields.read("remind", YamlValue::duration),
                fields.read("escalate", ApprovalFields::escalation),
                fields.is("on_timeout", "keep-waiting"));
        AgentSpec.Approvals plain =
                new AgentSpec.Approvals(fields.is("by", "none"), fields.read("timeout", YamlValue::duration));
        AgentSpec.Approvals approvals = waiting.equals(WaitRule.DEFAULT) ? plain : plain.waiting(waiting);
        return fields.read("signers", signers -> signers.entries(ApprovalFields::signer))
                .map(approvals::signedBy)
                .orElse(approvals);
    }

    private static WaitRule.Escalation escalation(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        return new WaitRule.Escalation(
                fields.require("after", YamlValue::duration), fields.require("to", YamlValue::text));
    }

    private static SignerKey signer(String name, YamlValue key) throws YamlProblem {
        SignerKey signer = new SignerKey(key.text());
        if (!signer.isUsable()) {
            throw key.problem("not a public key; expected ed25519: and 32 bytes in base64, as waymark keygen prints");
        }
        return signer;
    }
}
