package dev.waymark.conversation.fact;

import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;

/** A fact about the calls of the model, for replies and for summaries. */
public sealed interface ModelFact extends Fact {
    /** Results and queued messages were committed to the transcript, and the model was called. */
    record ModelCalled(int step) implements ModelFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.modelCalled(this);
        }
    }

    /** A reply arrived, possibly after its turn was stopped. */
    record ModelReplied(int step, Reply reply) implements ModelFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.modelReplied(this);
        }
    }

    /** The activity of a model call failed for good. */
    record ModelFailed(int step, Problem problem, Spent spent) implements ModelFact {
        public ModelFailed(int step, Problem problem) {
            this(step, problem, Spent.NOTHING);
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.modelFailed(this);
        }
    }

    /** Results and queued messages were committed to the transcript, and a summary of its older part was requested. */
    record SummaryRequested(int step) implements ModelFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summaryRequested(this);
        }
    }

    /**
     * The model wrote a summary. It replaces the older part of the conversation, unless the turn was stopped or the
     * summary is empty.
     */
    record Summarised(int step, Reply reply) implements ModelFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summarised(this);
        }
    }

    /**
     * The activity of a model call for a summary failed for good. The conversation continues without a summary, unless
     * the workers only left the call to others.
     */
    record SummaryFailed(int step, Problem problem, Spent spent) implements ModelFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summaryFailed(this);
        }
    }
}
