package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.starter.render.Output;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.DECIDE, examples = "keygen ann.key")
@Command(
        name = "keygen",
        description = {
            "Creates a key for signing decisions: writes the private key to a new file, and prints the public key.",
            "Add the public key to the agent file:",
            "",
            "  approvals:",
            "    signers: { ann: \"ed25519:…\" }",
            "",
            "New threads of the agent then accept only signed decisions: approve, deny and settle need --key FILE. Keep"
                    + " the private key where no tool can read it."
        })
public final class KeygenCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "FILE", description = "A new file for the private key.")
    private Path file;

    @Override
    public Integer call() {
        SignerKey key = DecisionKey.create(file);
        if (output.isJson()) {
            output.document(PayloadJson.MAPPER.valueToTree(Map.of("publicKey", key.text(), "file", file.toString())));
        } else {
            output.line(key.text());
        }
        return ExitCode.DONE;
    }
}
