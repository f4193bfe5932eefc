package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.watch.Watcher;
import dev.waymark.client.watch.WatcherNotifier;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.history.Moment;
import dev.waymark.testkit.ThreadFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WatcherNotifierTest {
    private final List<String> told = new ArrayList<>();

    private WatcherNotifier telling(boolean isCut) {
        return new WatcherNotifier("t1", isCut, new Watcher() {
            @Override
            public boolean happened(Moment moment) {
                told.add(moment.fact().map(Fact::type).orElse("run-continued"));
                return true;
            }

            @Override
            public boolean saved(CheckpointSaved checkpoint) {
                told.add("saved " + checkpoint.threadId() + " " + checkpoint.step() + " e" + checkpoint.eventId());
                return true;
            }

            @Override
            public boolean loaded(CheckpointLoaded checkpoint) {
                told.add("loaded " + checkpoint.step() + " " + checkpoint.messagesCount());
                return true;
            }
        });
    }

    private static ThreadFixture booked() {
        return ThreadFixture.resolved("ask_user")
                .says("m1", "Book")
                .callsModel()
                .asks("tu_1", "Which day?")
                .answers("tu_1", "Friday")
                .callsModel()
                .replies("Booked.");
    }

    @Test
    void tell_turnWithAQuestion_tellsOfEachVersionAfterTheMomentOfIt() {
        WatcherNotifier telling = telling(false);

        assertThat(booked().moments()).allMatch(telling::tell);

        assertThat(told)
                .containsExactly(
                        "run-started",
                        "agent-requested",
                        "agent-resolved",
                        "user-spoke",
                        "model-called",
                        "model-replied",
                        "saved t1 1 e6",
                        "human-answered",
                        "saved t1 1 e7",
                        "model-called",
                        "model-replied",
                        "saved t1 2 e9");
    }

    @Test
    void tell_runThatBeginsWithAState_isLoadedAndSavesOnlyWhatIsNew() {
        Conversation begin = booked().now();
        WatcherNotifier telling = telling(false);

        telling.tell(carried("run-2", begin));
        telling.tell(spoken("run-2", begin));

        assertThat(told).containsExactly("run-continued", "loaded 2 4", "user-spoke");
    }

    @Test
    void tell_runThatContinuesAnother_isNotLoaded() {
        WatcherNotifier telling = telling(false);
        ThreadFixture tale = booked();
        tale.moments().forEach(telling::tell);
        told.clear();
        telling.tell(carried("run-2", tale.now()));
        assertThat(told).containsExactly("run-continued");

        told.clear();
        telling(true).tell(carried("run-2", tale.now()));
        assertThat(told).as("the runs before are not held any more").containsExactly("run-continued");
    }

    @Test
    void tell_runAfterAReset_tellsOfItsVersionsAgain() {
        WatcherNotifier telling = telling(false);
        booked().moments().forEach(telling::tell);
        told.clear();
        booked().moments().stream()
                .map(moment -> new Moment("run-2", moment.eventId(), moment.at(), moment.fact(), moment.state()))
                .forEach(telling::tell);

        assertThat(told)
                .contains("saved t1 1 e6", "saved t1 1 e7", "saved t1 2 e9")
                .doesNotContain("loaded 1 0");
    }

    private static Moment carried(String runId, Conversation state) {
        return new Moment(runId, 1, state.updatedAt(), Optional.empty(), state);
    }

    private static Moment spoken(String runId, Conversation state) {
        Fact fact = new PersonFact.UserSpoke(Optional.of("m9"), Optional.empty(), Optional.empty(), true);
        return new Moment(runId, 5, state.updatedAt(), Optional.of(fact), Rules.apply(state, fact, state.updatedAt()));
    }
}
