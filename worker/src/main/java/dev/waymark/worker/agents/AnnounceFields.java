package dev.waymark.worker.agents;

import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads {@code announce} of an agent file: receivers by name, with the events and how much each of them may learn. */
final class AnnounceFields {
    private AnnounceFields() {}

    static List<AnnounceRule> read(YamlValue value) throws YamlProblem {
        Map<String, AnnounceRule> rules = value.entries(AnnounceFields::rule);
        if (rules.isEmpty() || rules.size() > AnnounceRule.MOST_RECEIVERS) {
            throw value.problem("expected 1 to " + AnnounceRule.MOST_RECEIVERS + " receivers, found " + rules.size());
        }
        return List.copyOf(rules.values());
    }

    private static AnnounceRule rule(String receiver, YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        List<AnnouncedEvent> events = problems.read(fields.take("events"), each -> each.items(AnnounceFields::event))
                .orElse(AnnouncedEvent.DEFAULT);
        Optional<AnnounceRule.Reveal> reveal = problems.read(fields.take("reveal"), AnnounceFields::reveal);
        problems.run(fields::end);
        problems.end();
        if (events.isEmpty()) {
            throw value.problem("events is empty: leave the receiver out, or the field for all events about requests");
        }
        AnnounceRule all = AnnounceRule.to(named(receiver, value)).only(events.toArray(AnnouncedEvent[]::new));
        return reveal.map(all::revealing).orElse(all);
    }

    static String receiver(YamlValue value) throws YamlProblem {
        return named(value.text(), value);
    }

    private static String named(String receiver, YamlValue place) throws YamlProblem {
        Optional<String> misnomer = AnnounceRule.misnomer(receiver);
        if (misnomer.isPresent()) {
            throw place.problem(misnomer.get());
        }
        return receiver;
    }

    private static AnnounceRule.Reveal reveal(YamlValue value) throws YamlProblem {
        String[] words = Arrays.stream(AnnounceRule.Reveal.values())
                .map(AnnounceRule.Reveal::wireName)
                .toArray(String[]::new);
        return AnnounceRule.Reveal.values()[List.of(words).indexOf(value.oneOf(words))];
    }

    private static AnnouncedEvent event(YamlValue value) throws YamlProblem {
        Optional<AnnouncedEvent> event = AnnouncedEvent.named(value.text());
        if (event.isEmpty()) {
            throw value.problem("no such event: " + value.text() + ". Events: "
                    + Arrays.stream(AnnouncedEvent.values())
                            .map(AnnouncedEvent::wireName)
                            .collect(Collectors.joining(", ")));
        }
        return event.get();
    }
}
