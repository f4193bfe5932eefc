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
        if (!AnnounceRule.isName(receiver)) {
            throw misnamed(value, receiver);
        }
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        List<AnnouncedEvent> events = problems.read(fields.take("events"), each -> each.items(AnnounceFields::event))
                .orElse(AnnouncedEvent.DEFAULT);
        Optional<String> reveal = problems.read(fields.take("reveal"), each -> each.oneOf(words()));
        problems.run(fields::end);
        problems.end();
        if (events.isEmpty()) {
            throw value.problem("events is empty: leave the receiver out, or the field for all events about requests");
        }
        AnnounceRule all = AnnounceRule.to(receiver).only(events.toArray(AnnouncedEvent[]::new));
        return Arrays.stream(AnnounceRule.Reveal.values())
                .filter(each -> reveal.filter(each.wireName()::equals).isPresent())
                .findFirst()
                .map(all::revealing)
                .orElse(all);
    }

    static String receiver(YamlValue value) throws YamlProblem {
        String name = value.text();
        if (!AnnounceRule.isName(name)) {
            throw misnamed(value, name);
        }
        return name;
    }

    private static YamlProblem misnamed(YamlValue value, String name) {
        return value.problem("a receiver's name has 1 to 64 characters A-Z a-z 0-9 _ . -, found " + name);
    }

    private static String[] words() {
        return Arrays.stream(AnnounceRule.Reveal.values())
                .map(AnnounceRule.Reveal::wireName)
                .toArray(String[]::new);
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
