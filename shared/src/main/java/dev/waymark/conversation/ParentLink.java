package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Optional;

/**
 * The link of a subagent's thread to its parent.
 *
 * @param parent the call that this thread executes
 * @param reported the progress last reported to the parent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record ParentLink(
        @JsonProperty("parent") Optional<Parent> parent,
        @JsonProperty("reported") Optional<SubagentProgress> reported) {
    static final ParentLink NONE = new ParentLink(Optional.empty(), Optional.empty());

    /** A mutable copy of this part, for applying a fact. */
    final class Edit {
        Optional<Parent> parent = ParentLink.this.parent;
        Optional<SubagentProgress> reported = ParentLink.this.reported;

        ParentLink done() {
            return new ParentLink(parent, reported);
        }
    }
}
