package dev.waymark.conversation;

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

    /** Have a worker run a tool. */
    record RunTool(Call call, int dispatch) implements Step {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.runTool(this);
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

        R runTool(RunTool step);

        R close(Close step);
    }
}
