package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads {@code approvals} of an agent file. */
final class ApprovalFields {
    private static final Pattern SIGNER = Pattern.compile("[A-Za-z0-9_.@+-]{1,64}");

    /** Limited, because every request for a decision contains all signers. */
    private static final int MOST_SIGNERS = 20;

    private ApprovalFields() {}

    static AgentSpec.Approvals read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        boolean nobody = problems.read(fields.take("by"), by -> by.oneOf("human", "none"))
                .filter("none"::equals)
                .isPresent();
        if (nobody) {
            problems.run(() -> fields.refuse(Set.of("timeout", "signers"), "not allowed with by: none"));
        }
        AgentSpec.Approvals approvals =
                new AgentSpec.Approvals(nobody, problems.read(fields.take("timeout"), ToolEntry::timeout));
        Optional<Map<String, SignerKey>> signers = problems.read(fields.take("signers"), ApprovalFields::signers);
        problems.run(fields::end);
        problems.end();
        return signers.map(approvals::signedBy).orElse(approvals);
    }

    private static Map<String, SignerKey> signers(YamlValue value) throws YamlProblem {
        Map<String, SignerKey> signers = value.entries(ApprovalFields::signer);
        if (signers.isEmpty() || signers.size() > MOST_SIGNERS) {
            throw value.problem("expected 1 to " + MOST_SIGNERS + " signers, found " + signers.size());
        }
        return signers;
    }

    private static SignerKey signer(String name, YamlValue key) throws YamlProblem {
        if (!SIGNER.matcher(name).matches()) {
            throw key.problem("a signer's name has 1 to 64 characters A-Z a-z 0-9 _ . @ + -, found " + name);
        }
        SignerKey signer = new SignerKey(key.text());
        if (!signer.isUsable()) {
            throw key.problem("not a public key; expected ed25519: and 32 bytes in base64, as waymark keygen prints");
        }
        return signer;
    }
}
