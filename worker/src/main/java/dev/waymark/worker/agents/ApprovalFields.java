package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads {@code approvals} of an agent file. */
final class ApprovalFields {
    private static final Pattern SIGNER = Pattern.compile("[A-Za-z0-9_.@+-]{1,64}");

    /** Signers are part of every request for a decision. */
    private static final int MOST_SIGNERS = 20;

    private ApprovalFields() {}

    static AgentSpec.Approvals read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        Optional<YamlValue> by = fields.take("by");
        Optional<YamlValue> timeout = fields.take("timeout");
        Optional<YamlValue> signers = fields.take("signers");
        fields.end();
        boolean nobody = by.isPresent() && by.get().oneOf("human", "none").equals("none");
        if (nobody && timeout.isPresent()) {
            throw timeout.get().problem("not allowed with by: none");
        }
        if (nobody && signers.isPresent()) {
            throw signers.get().problem("not allowed with by: none");
        }
        AgentSpec.Approvals approvals = new AgentSpec.Approvals(
                nobody, timeout.isPresent() ? Optional.of(ToolEntry.timeout(timeout.get())) : Optional.empty());
        return signers.isPresent() ? approvals.signedBy(signers(signers.get())) : approvals;
    }

    private static Map<String, SignerKey> signers(YamlValue value) throws YamlProblem {
        Map<String, SignerKey> signers = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> field : value.fields().takeAll().entrySet()) {
            YamlValue key = field.getValue();
            if (!SIGNER.matcher(field.getKey()).matches()) {
                throw key.problem(
                        "a signer's name has 1 to 64 characters A-Z a-z 0-9 _ . @ + -, found " + field.getKey());
            }
            SignerKey signer = new SignerKey(key.text());
            if (!signer.isUsable()) {
                throw key.problem(
                        "not a public key; expected ed25519: and 32 bytes in base64, as waymark keygen prints");
            }
            signers.put(field.getKey(), signer);
        }
        if (signers.isEmpty() || signers.size() > MOST_SIGNERS) {
            throw value.problem("expected 1 to " + MOST_SIGNERS + " signers, found " + signers.size());
        }
        return signers;
    }
}
