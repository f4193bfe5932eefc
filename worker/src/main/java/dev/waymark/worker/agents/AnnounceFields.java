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
        AnnounceRule all = AnnounceRule.to(receiver);
        AnnounceRule some = fields.read("events", list -> list.items(AnnounceFields::event))
                .map(events -> all.only(events.toArray(AnnouncedEvent[]::new)))
                .orElse(all);
        return fields.read(
                        "reveal",
                        each -> AnnounceRule.Reveal.valueOf(each.text().toUpperCase(Locale.ROOT)))
                .map(some::revealing)
                .orElse(some);
    }

    private static AnnouncedEvent event(YamlValue value) throws YamlProblem {
        return AnnouncedEvent.named(value.text()).orElseThrow(() -> value.problem("no such event"));
    }
}
