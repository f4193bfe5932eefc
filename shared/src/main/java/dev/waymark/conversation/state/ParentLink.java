package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
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
    public static final ParentLink NONE = new ParentLink(Optional.empty(), Optional.empty());

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public Optional<Parent> parent = ParentLink.this.parent;
        public Optional<SubagentProgress> reported = ParentLink.this.reported;

        /** The part itself if nothing was assigned, because a timeline holds every version of a thread. */
        public ParentLink done() {
            boolean isUnchanged = parent == ParentLink.this.parent && reported == ParentLink.this.reported;
            return isUnchanged ? ParentLink.this : new ParentLink(parent, reported);
        }
    }
}
