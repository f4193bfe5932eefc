package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.time.Duration;
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
            problems.run(() -> fields.refuse(Set.of("timeout", "on_timeout", "signers"), "not allowed with by: none"));
        }
        Optional<Duration> timeout = problems.read(fields.take("timeout"), ToolEntry::timeout);
        WaitRule waiting = waiting(fields, timeout.isPresent(), problems);
        AgentSpec.Approvals plain = new AgentSpec.Approvals(nobody, timeout);
        AgentSpec.Approvals approvals = waiting.equals(WaitRule.DEFAULT) ? plain : plain.waiting(waiting);
        Optional<Map<String, SignerKey>> signers = problems.read(fields.take("signers"), ApprovalFields::signers);
        problems.run(fields::end);
        problems.end();
        return signers.map(approvals::signedBy).orElse(approvals);
    }

    private static WaitRule waiting(YamlFields fields, boolean isLimited, YamlProblems problems) {
        Optional<Duration> remind = problems.read(fields.take("remind"), ToolEntry::timeout);
        Optional<WaitRule.Escalation> escalation = problems.read(fields.take("escalate"), ApprovalFields::escalation);
        Optional<YamlValue> onTimeout = fields.take("on_timeout");
        boolean keepsWaiting = problems.read(onTimeout, value -> value.oneOf("deny", "keep-waiting"))
                .filter("keep-waiting"::equals)
                .isPresent();
        onTimeout.filter(value -> !isLimited).ifPresent(value -> problems.add(value.problem("only with timeout")));
        return new WaitRule(remind, escalation, keepsWaiting);
    }

    private static WaitRule.Escalation escalation(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        Optional<Duration> after = problems.check(() -> ToolEntry.timeout(fields.require("after")));
        Optional<String> to = problems.check(() -> AnnounceFields.receiver(fields.require("to")));
        problems.run(fields::end);
        problems.end();
        return new WaitRule.Escalation(after.orElseThrow(), to.orElseThrow());
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
