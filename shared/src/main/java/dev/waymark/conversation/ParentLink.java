package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Optional;

/**
 * The thread above this one, where this is a subagent's.
 *
 * @param parent the call that this thread carries out
 * @param reported what the thread above was told last
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record ParentLink(
        @JsonProperty("parent") Optional<Parent> parent,
        @JsonProperty("reported") Optional<SubagentProgress> reported) {
    static final ParentLink NONE = new ParentLink(Optional.empty(), Optional.empty());

    /** The part while a fact changes it. */
    final class Edit {
        Optional<Parent> parent = ParentLink.this.parent;
        Optional<SubagentProgress> reported = ParentLink.this.reported;

        ParentLink done() {
            return new ParentLink(parent, reported);
        }
    }
}
