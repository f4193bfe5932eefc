package dev.waymark.worker.agents;

import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Locale;

/** Reads {@code announce} of an agent file: receivers by name, with the events and how much each of them may learn. */
final class AnnounceFields {
    private AnnounceFields() {}

    static AnnounceRule rule(String receiver, YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        AnnounceRule rule = AnnounceRule.to(receiver);
        rule = fields.read(
                        "events",
                        list -> list.items(
                                each -> AnnouncedEvent.named(each.text()).orElseThrow()))
                .map(events -> events.toArray(AnnouncedEvent[]::new))
                .map(rule::only)
                .orElse(rule);
        return fields.read(
                        "reveal",
                        each -> AnnounceRule.Reveal.valueOf(each.text().toUpperCase(Locale.ROOT)))
                .map(rule::revealing)
                .orElse(rule);
    }
}
