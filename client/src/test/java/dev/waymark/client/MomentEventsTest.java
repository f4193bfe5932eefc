package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.timeline.Moment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class MomentEventsTest {
    private final List<String> told = new ArrayList<>();

    private Consumer<Moment> telling(boolean isCut) {
        MomentEvents events = new MomentEvents("t1", isCut);
        return moment -> events.of(moment).stream().map(MomentEventsTest::words).forEach(told::add);
    }

    private static String words(ThreadEvent event) {
        if (event instanceof ThreadEvent.Happened happened) {
            return happened.moment().fact().map(Fact::type).orElse("run-continued");
        }
        if (event instanceof ThreadEvent.Saved saved) {
            return "saved " + saved.threadId() + " " + saved.step() + " e" + saved.eventId();
        }
        ThreadEvent.Loaded loaded = (ThreadEvent.Loaded) event;
        return "loaded " + loaded.step() + " " + loaded.messagesCount();
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
    void of_turnWithAQuestion_reportsEachVersionAfterItsMoment() {
        booked().moments().forEach(telling(false));

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
    void of_runWithAnInitialState_isLoadedAndSavesOnlyNewVersions() {
        Conversation begin = booked().now();
        Consumer<Moment> telling = telling(false);

        telling.accept(carried("run-2", begin));
        telling.accept(spoken("run-2", begin));

        assertThat(told).containsExactly("run-continued", "loaded 2 4", "user-spoke");
    }

    @Test
    void of_runThatContinuesAnother_isNotLoaded() {
        Consumer<Moment> telling = telling(false);
        ThreadFixture fixture = booked();
        fixture.moments().forEach(telling);
        told.clear();
        telling.accept(carried("run-2", fixture.now()));
        assertThat(told).containsExactly("run-continued");

        told.clear();
        telling(true).accept(carried("run-2", fixture.now()));
        assertThat(told).as("the runs before are not held any more").containsExactly("run-continued");
    }

    @Test
    void of_runAfterAReset_reportsItsVersionsAgain() {
        Consumer<Moment> telling = telling(false);
        booked().moments().forEach(telling);
        told.clear();
        booked().moments().stream()
                .map(moment -> new Moment("run-2", moment.eventId(), moment.at(), moment.fact(), moment.state()))
                .forEach(telling);

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
