package dev.waymark.conversation.policy;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What an agent announces to receivers. The names are stored, and are part of what is sent. */
public enum AnnouncedEvent {
    /** A request has begun to wait for a person. */
    @JsonProperty("request.waiting")
    WAITING("request.waiting"),
    /** A request still waits. */
    @JsonProperty("request.reminder")
    REMINDER("request.reminder"),
    /** A request has waited so long that another receiver is told. */
    @JsonProperty("request.escalated")
    ESCALATED("request.escalated"),
    /** The time to decide is over. */
    @JsonProperty("request.expired")
    EXPIRED("request.expired"),
    /** A request no longer waits. */
    @JsonProperty("request.decided")
    DECIDED("request.decided"),
    /** It is unknown whether a call took effect. If a person must settle it, this replaces {@link #WAITING}. */
    @JsonProperty("outcome.unknown")
    OUTCOME_UNKNOWN("outcome.unknown"),
    @JsonProperty("turn.ended")
    TURN_ENDED("turn.ended");

    /** The events of agents that name none: everything about requests. */
    public static final List<AnnouncedEvent> DEFAULT =
            Arrays.stream(values()).filter(event -> event != TURN_ENDED).toList();

    private final String wireName;

    AnnouncedEvent(String wireName) {
        this.wireName = wireName;
    }

    /** The name in agent files, and in what is sent. */
    public String wireName() {
        return wireName;
    }

    /** The event with this name, if there is one. */
    public static Optional<AnnouncedEvent> named(String wireName) {
        return Arrays.stream(values())
                .filter(event -> event.wireName.equals(wireName))
                .findFirst();
    }
}
