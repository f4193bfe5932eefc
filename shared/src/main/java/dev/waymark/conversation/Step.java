package dev.waymark.conversation;

import dev.waymark.conversation.value.Budget;
import java.time.Instant;
import java.util.Optional;

/** What should happen now. The driver carries it out and applies the fact that says so. */
public sealed interface Step {
    <R> R match(Cases<R> cases);

    /** Find the agent's definition. */
    record ResolveAgent(String agent) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.resolveAgent(this);
        }
    }

    /** Ask the model, for the {@code step}-th time in this thread. */
    record CallModel(int step) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.callModel(this);
        }
    }

    /** Have the model summarise the older part of the conversation, before it is asked about the whole. */
    record Summarise(int step) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summarise(this);
        }
    }

    /** Have a worker run a tool. */
    record RunTool(Call call, int dispatch) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.runTool(this);
        }
    }

    /** Find out whether the newest dispatch of a call took effect. */
    record VerifyTool(Call call) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verifyTool(this);
        }
    }

    /** Have a subagent carry a call out, in a thread of its own, for no more than this. */
    record StartSubagent(Call call, Optional<Budget> budget) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.startSubagent(this);
        }
    }

    /** Pass on to a subagent's thread what a person decided about something that it asked. */
    record PassOn(String callId, Delegation.Decision decision) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.passOn(this);
        }
    }

    /** Tell the thread above how things stand here. */
    record ReportToParent(Parent parent, SubagentProgress report) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.reportToParent(this);
        }
    }

    /** See to it that {@link Fact.TimePassed} comes at this time or soon after. It stays decided until then. */
    record WakeAt(Instant time) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.wakeAt(this);
        }
    }

    /** End the thread, once nothing is in flight any more. */
    record Close(boolean cancelled) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.close(this);
        }
    }

    /** One method a step, so that the compiler finds the driver that forgot one. */
    interface Cases<R> {
        R resolveAgent(ResolveAgent step);

        R callModel(CallModel step);

        R summarise(Summarise step);

        R runTool(RunTool step);

        R verifyTool(VerifyTool step);

        R startSubagent(StartSubagent step);

        R passOn(PassOn step);

        R reportToParent(ReportToParent step);

        R wakeAt(WakeAt step);

        R close(Close step);
    }
}
