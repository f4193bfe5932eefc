package dev.waymark.workflow;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.RecordSchema;
import io.temporal.common.SearchAttributes;
import java.util.Objects;
import java.util.Optional;

/**
 * What an agent is to do, as a workflow asks for it.
 *
 * @param agent the name of the agent
 * @param message the first message
 * @param thread the id of the thread that a Nexus operation starts; a random one if it is missing
 * @param context the context for the thread's tools, a JSON object
 * @param schema a JSON Schema that the final reply must match
 */
public record AgentTask(
        String agent, String message, Optional<String> thread, Optional<Json> context, Optional<Json> schema) {
    public AgentTask {
        Objects.requireNonNull(agent, "agent");
        Objects.requireNonNull(message, "message");
    }

    /** A message to an agent. */
    public static AgentTask of(String agent, String message) {
        return new AgentTask(agent, message, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** A copy with the id of the thread that a Nexus operation starts. A second operation with this id fails. */
    public AgentTask withThread(String id) {
        return new AgentTask(agent, message, Optional.of(id), context, schema);
    }

    /** A copy with a context for the thread's tools: a JSON object whose fields override those of the agent's context. */
    public AgentTask withContext(Json fields) {
        return new AgentTask(agent, message, thread, Optional.of(fields), schema);
    }

    /** A copy whose reply must match the schema of this record: {@link AgentOutcome#structured}. */
    public AgentTask withSchema(Class<? extends Record> type) {
        return new AgentTask(agent, message, thread, context, Optional.of(RecordSchema.of(type)));
    }

    /**
     * The search attributes with which the console and metrics find the thread, for the start of a child on a server
     * that has them: {@code options -> options.setTypedSearchAttributes(task.searchAttributes())}.
     */
    public SearchAttributes searchAttributes() {
        return ThreadIndex.starting(agent).attributes();
    }

    /** The start of a thread. The message needs no id, because the thread gets it once. */
    StartInput start() {
        return StartInput.of(agent)
                .withContext(context.map(PayloadJson.MAPPER::valueToTree))
                .saying(new PersonFact.UserSpoke(
                        Optional.empty(), Optional.empty(), Optional.of(Message.user(message)), false, schema, false));
    }
}
