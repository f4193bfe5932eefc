package dev.waymark.contract.work;

/**
 * The input of the {@code agent} activity, which returns the agent's definition. The definition applies to the thread's
 * whole life.
 *
 * @param rules the version of the thread's rules
 */
public record AgentInput(String agent, int rules) implements ActivityInput {
    @Override
    public Work.Agent work() {
        return new Work.Agent();
    }
}
