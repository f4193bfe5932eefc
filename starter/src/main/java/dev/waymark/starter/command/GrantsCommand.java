package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.document.GrantItem;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.display.SafeText;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.CallText;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.TextTable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@HelpEntry(
        group = CommandGroup.DECIDE,
        examples = {"grants table-9", "grants table-9 --revoke 1 --by ann"})
@Command(
        name = "grants",
        description = {
            "Lists the approvals of a thread that also let later calls run (approve --for), or revokes one.",
            "A grant never lets a call run that the agent's rules deny. It ends with its thread, if the conversation is"
                    + " cleared, and if its tool changes."
        })
public final class GrantsCommand extends WaitingVerb {
    @Option(
            names = "--revoke",
            paramLabel = "N",
            description = "End this grant. Calls that have not started under it wait for a decision again.")
    private @Nullable Integer revoked;

    @Option(names = "--by", paramLabel = "WHO", description = "With --revoke: the name of the person who revokes.")
    private @Nullable String by;

    @Override
    public Integer call() {
        return revoked == null ? list() : revoke(revoked);
    }

    private int revoke(int number) {
        PersonFact.GrantRevoked plain = PersonFact.GrantRevoked.of(number);
        return waiting(client -> {
            TurnHandle sent = client.send(thread, OutboundMessage.of(by == null ? plain : plain.withBy(by)));
            if (output.isJson()) {
                output.document(new Revoked(thread, number, sent.fact().orElseThrow()));
            } else {
                output.line("revoked: grant " + number + " of " + SafeText.line(thread));
            }
            return ExitCode.DONE;
        });
    }

    record Revoked(String thread, int grant, int fact) {}

    private int list() {
        return reading(client -> {
            List<GrantItem> grants = GrantItem.of(client.timeline(thread).now(), Instant.now());
            if (output.isJson()) {
                output.document(JsonDocuments.tree(grants));
                return ExitCode.DONE;
            }
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("GRANT", "STATUS", "USED", "GIVEN", "UNTIL", "TOOL", "FOR"));
            for (GrantItem grant : grants) {
                rows.add(List.of(
                        String.valueOf(grant.grant()),
                        grant.status(),
                        grant.used() + grant.times().map(most -> " of " + most).orElse(""),
                        TextTable.time(grant.at()) + CallText.by(grant.by(), grant.verified()),
                        grant.until().map(TextTable::time).orElse("the thread ends"),
                        SafeText.line(grant.tool()),
                        grant.like()
                                .map(schema -> "arguments like " + OneLine.shortenedJson(schema.canonical()))
                                .or(() -> grant.args().map(args -> OneLine.shortenedJson(args.canonical())))
                                .orElse(grant.anyArgs() ? "any arguments" : "")));
            }
            TextTable.print(output, rows);
            return ExitCode.DONE;
        });
    }
}
