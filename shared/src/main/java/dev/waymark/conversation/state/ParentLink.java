package dev.waymark.conversation.state;

import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
import java.util.Optional;

/**
 * The link of a thread to its parent.
 *
 * @param parent the parent's call that this thread executes, with the depth and the budget; empty without a parent
 * @param reported the progress last reported to the parent
 */
public record ParentLink(Optional<Parent> parent, Optional<SubagentProgress> reported) {
    public static final ParentLink NONE = new ParentLink(Optional.empty(), Optional.empty());

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public Optional<Parent> parent = ParentLink.this.parent;
        public Optional<SubagentProgress> reported = ParentLink.this.reported;

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public ParentLink done() {
            boolean isUnchanged = parent == ParentLink.this.parent && reported == ParentLink.this.reported;
            return isUnchanged ? ParentLink.this : new ParentLink(parent, reported);
        }
    }
}
