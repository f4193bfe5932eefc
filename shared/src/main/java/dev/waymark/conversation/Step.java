package dev.waymark.conversation;

import dev.waymark.conversation.call.AbandonedTask;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.value.Budget;
import java.time.Instant;
import java.util.Optional;

/**
 * Something that should happen now. Executing it applies a fact that records it, except for {@link WakeAt} and
 * {@link Close}.
 */
public sealed interface Step {
    <R> R match(Cases<R> cases);

    /** Resolve the agent's definition. */
    record ResolveAgent(String agent) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.resolveAgent(this);
        }
    }

    /** Call the model. {@code step} counts the model calls of the thread, including those for summaries. */
    record CallModel(int step) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.callModel(this);
        }
    }

    /** Let the model summarize the older part of the conversation, before it is called for the next reply. */
    record Summarize(int step) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summarize(this);
        }
    }

    /** Dispatch a call to a worker, for the {@code dispatch}-th time. */
    record RunTool(Call call, int dispatch) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.runTool(this);
        }
    }

    /** Ask the agent's rules whether a call may run with its arguments. */
    record Judge(Call call) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.judge(this);
        }
    }

    /** Check whether the newest dispatch of a call took effect. */
    record VerifyTool(Call call) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verifyTool(this);
        }
    }

    /** Let a worker follow the task of a call's server. */
    record FollowTask(Call call) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.followTask(this);
        }
    }

    /** Tell a server that the thread no longer waits for its task. */
    record CancelTask(AbandonedTask task) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.cancelTask(this);
        }
    }

    /** Let a subagent execute a call in a thread of its own, within this budget. */
    record StartSubagent(Call call, Optional<Budget> budget) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.startSubagent(this);
        }
    }

    /** Pass a person's decision on to the subagent's thread that requested it. */
    record PassOn(String callId, Delegation.Decision decision) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.passOn(this);
        }
    }

    /** Report this thread's progress to its parent. */
    record ReportToParent(Parent parent, SubagentProgress report) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.reportToParent(this);
        }
    }

    /** Let a worker send an announcement to a receiver. */
    record Announce(Announcement what) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.announce(this);
        }
    }

    /** Apply {@link ThreadFact.TimePassed} at this time or soon after. The step stays until then. */
    record WakeAt(Instant time) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.wakeAt(this);
        }
    }

    /** End the thread as soon as nothing is running. */
    record Close(boolean cancelled) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.close(this);
        }
    }

    /** One method for each step, so that the compiler finds unhandled ones. */
    interface Cases<R> {
        R resolveAgent(ResolveAgent step);

        R callModel(CallModel step);

        R summarize(Summarize step);

        R runTool(RunTool step);

        R judge(Judge step);

        R verifyTool(VerifyTool step);

        R followTask(FollowTask step);

        R cancelTask(CancelTask step);

        R startSubagent(StartSubagent step);

        R passOn(PassOn step);

        R reportToParent(ReportToParent step);

        R announce(Announce step);

        R wakeAt(WakeAt step);

        R close(Close step);
    }
}
