package dev.waymark.contract.thread;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Turn;
import dev.waymark.thread.StatusReport;
import io.temporal.common.SearchAttributeKey;
import io.temporal.common.SearchAttributeUpdate;
import io.temporal.common.SearchAttributes;
import io.temporal.internal.common.SearchAttributesUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The search attributes of a thread, for filtering a server's list of threads. They contain nothing of the
 * conversation, and change only when a turn begins or ends, and when the thread starts or stops waiting for people.
 *
 * <p>A thread has them from its start or never: setting an attribute that the server does not know fails a workflow
 * task.
 *
 * @param agent empty until the agent is known
 * @param status as in {@link StatusReport}
 * @param waitingFor the kinds of requests that wait for people, sorted. Always empty for a subagent's thread, since its
 *     requests are answered in the thread above it.
 */
public record ThreadIndex(String agent, String status, List<String> waitingFor) {
    private static final SearchAttributeKey<String> AGENT = SearchAttributeKey.forKeyword("WaymarkAgent");
    private static final SearchAttributeKey<String> STATUS = SearchAttributeKey.forKeyword("WaymarkStatus");
    private static final SearchAttributeKey<List<String>> WAITING_FOR =
            SearchAttributeKey.forKeywordList("WaymarkWaitingFor");

    /** All attributes. They are used only if the server has all of them. */
    public static final List<SearchAttributeKey<?>> KEYS = List.of(AGENT, STATUS, WAITING_FOR);

    /** The condition of a visibility query for threads that wait for people, according to their attributes. */
    public static final String WAITS = WAITING_FOR.getName() + " IS NOT NULL";

    /**
     * Threads that a condition may misclassify: those without attributes, and those that the list shows as running. The
     * server updates the list some time after the history.
     */
    private static final String IS_UNCERTAIN =
            STATUS.getName() + " IS NULL OR " + STATUS.getName() + " = '" + Turn.Status.RUNNING.wireName() + "'";

    public ThreadIndex {
        waitingFor = List.copyOf(waitingFor);
    }

    /** The attributes with which a thread of this agent starts. */
    public static ThreadIndex starting(String agent) {
        return new ThreadIndex(agent, Turn.Status.RUNNING.wireName(), List.of());
    }

    public static ThreadIndex of(Conversation state) {
        List<String> kinds = state.isSubagent()
                ? List.of()
                : state.asks().stream()
                        .map(ask -> ask.kind().wireName())
                        .distinct()
                        .sorted()
                        .toList();
        return new ThreadIndex(state.agent(), ThreadStatus.of(state).status(), kinds);
    }

    /** The attributes of a run; empty if its thread has none. */
    public static Optional<ThreadIndex> in(SearchAttributes attributes) {
        return Optional.ofNullable(attributes.get(STATUS))
                .map(status -> new ThreadIndex(
                        Optional.ofNullable(attributes.get(AGENT)).orElse(""),
                        status,
                        Optional.ofNullable(attributes.get(WAITING_FOR)).orElse(List.of())));
    }

    /** The attributes of a run, as a list of the server has them; empty if its thread has none. */
    public static Optional<ThreadIndex> in(io.temporal.api.common.v1.SearchAttributes listed) {
        return in(SearchAttributesUtil.decodeTyped(listed));
    }

    /** All attributes, for the start of a thread. */
    public SearchAttributes attributes() {
        SearchAttributes.Builder attributes = SearchAttributes.newBuilder().set(STATUS, status);
        if (!agent.isEmpty()) {
            attributes.set(AGENT, agent);
        }
        if (!waitingFor.isEmpty()) {
            attributes.set(WAITING_FOR, waitingFor);
        }
        return attributes.build();
    }

    /** All attributes, in the form of the server's API. */
    public io.temporal.api.common.v1.SearchAttributes encoded() {
        return SearchAttributesUtil.encodeTyped(attributes());
    }

    /** The attributes that differ from the previous ones. */
    public SearchAttributeUpdate<?>[] changesSince(ThreadIndex before) {
        List<SearchAttributeUpdate<?>> changes = new ArrayList<>();
        if (!agent.equals(before.agent)) {
            changes.add(agent.isEmpty() ? AGENT.valueUnset() : AGENT.valueSet(agent));
        }
        if (!status.equals(before.status)) {
            changes.add(STATUS.valueSet(status));
        }
        if (!waitingFor.equals(before.waitingFor)) {
            changes.add(waitingFor.isEmpty() ? WAITING_FOR.valueUnset() : WAITING_FOR.valueSet(waitingFor));
        }
        return changes.toArray(new SearchAttributeUpdate<?>[0]);
    }

    /** The condition of a visibility query for threads that may wait for people. */
    public static String mayWait(Optional<String> kind) {
        return orUncertain(kind.flatMap(name -> is(WAITING_FOR, name)).orElse(WAITS));
    }

    /** The condition for threads that may have this status; empty if the status cannot be quoted. */
    public static Optional<String> mayHaveStatus(String status) {
        return is(STATUS, status).map(ThreadIndex::orUncertain);
    }

    /**
     * The condition for threads that may be of this agent, including threads whose agent is not known; empty if the
     * name cannot be quoted.
     */
    public static Optional<String> mayBeOf(String agent) {
        return is(AGENT, agent).map(condition -> "(" + condition + " OR " + AGENT.getName() + " IS NULL)");
    }

    private static String orUncertain(String condition) {
        return "(" + condition + " OR " + IS_UNCERTAIN + ")";
    }

    /**
     * The condition that an attribute has this value; empty if the value could end the quoted string that contains it.
     */
    private static Optional<String> is(SearchAttributeKey<?> key, String value) {
        return Optional.of(value)
                .filter(text -> text.chars().noneMatch(each -> each == '\'' || each == '\\' || each < ' '))
                .map(text -> key.getName() + " = '" + text + "'");
    }
}
