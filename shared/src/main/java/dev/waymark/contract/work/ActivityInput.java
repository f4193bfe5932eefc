package dev.waymark.contract.work;

import dev.waymark.contract.WireNames;

/** The input of an activity, which determines the activity's work. */
public sealed interface ActivityInput
        permits AgentInput, AnnounceInput, JudgeInput, ModelInput, TaskInput, ToolInput, VerifyInput {
    Work<?> work();

    /** The input class for an activity type. A type that is not reserved is the name of a tool. */
    static Class<? extends ActivityInput> ofType(String activity) {
        return switch (activity) {
            case WireNames.ANNOUNCE_ACTIVITY -> AnnounceInput.class;
            case WireNames.AGENT_ACTIVITY -> AgentInput.class;
            case WireNames.MODEL_ACTIVITY -> ModelInput.class;
            case WireNames.JUDGE_ACTIVITY -> JudgeInput.class;
            case WireNames.TASK_ACTIVITY -> TaskInput.class;
            case WireNames.VERIFY_ACTIVITY -> VerifyInput.class;
            default -> ToolInput.class;
        };
    }
}
