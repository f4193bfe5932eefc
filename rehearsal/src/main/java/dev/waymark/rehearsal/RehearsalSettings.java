package dev.waymark.rehearsal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The settings of a rehearsal.
 *
 * @param votes how often each candidate is asked at each reply
 * @param parallel the maximum number of requests at a time
 * @param from the place of the first reply to rehearse: the one that led to a version, or whose model call is an event
 * @param allowedProviders the providers that may see a conversation although its thread did not use them
 * @param continued the maximum number of further replies with which a reply that differs is continued in memory
 * @param decrypt whether the report may contain texts of encrypted threads
 * @param expected checks of single threads, by their names: only the last reply of such a thread is rehearsed, and
 *     these checks take the place of the agent's
 * @param scriptedResults results for calls that the thread did not record
 */
public record RehearsalSettings(
        int votes,
        int parallel,
        Optional<String> from,
        Set<String> allowedProviders,
        int continued,
        boolean decrypt,
        Map<String, List<Check>> expected,
        ScriptedResults scriptedResults) {
    /** One vote, at every reply of each thread, four requests at a time. */
    public static final RehearsalSettings DEFAULT =
            new RehearsalSettings(1, 4, Optional.empty(), Set.of(), 0, false, Map.of(), ScriptedResults.NONE);

    public RehearsalSettings {
        allowedProviders = Set.copyOf(allowedProviders);
        expected = Map.copyOf(expected);
    }

    public RehearsalSettings withVotes(int number) {
        return with(edit -> edit.votes = number);
    }

    public RehearsalSettings withParallel(int requests) {
        return with(edit -> edit.parallel = requests);
    }

    public RehearsalSettings withFrom(Optional<String> place) {
        return with(edit -> edit.from = place);
    }

    public RehearsalSettings withAllowedProviders(Set<String> names) {
        return with(edit -> edit.allowedProviders = names);
    }

    public RehearsalSettings withContinued(int most) {
        return with(edit -> edit.continued = most);
    }

    public RehearsalSettings withDecrypt(boolean shown) {
        return with(edit -> edit.decrypt = shown);
    }

    public RehearsalSettings withExpected(Map<String, List<Check>> checks) {
        return with(edit -> edit.expected = checks);
    }

    public RehearsalSettings withScriptedResults(ScriptedResults scripted) {
        return with(edit -> edit.scriptedResults = scripted);
    }

    private RehearsalSettings with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    /** A mutable copy. */
    private final class Edit {
        private int votes = RehearsalSettings.this.votes;
        private int parallel = RehearsalSettings.this.parallel;
        private Optional<String> from = RehearsalSettings.this.from;
        private Set<String> allowedProviders = RehearsalSettings.this.allowedProviders;
        private int continued = RehearsalSettings.this.continued;
        private boolean decrypt = RehearsalSettings.this.decrypt;
        private Map<String, List<Check>> expected = RehearsalSettings.this.expected;
        private ScriptedResults scriptedResults = RehearsalSettings.this.scriptedResults;

        private RehearsalSettings done() {
            return new RehearsalSettings(
                    votes, parallel, from, allowedProviders, continued, decrypt, expected, scriptedResults);
        }
    }
}
