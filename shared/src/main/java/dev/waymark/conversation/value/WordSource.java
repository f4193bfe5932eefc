package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;
import java.util.Optional;

/**
 * What brought untrusted words into a conversation.
 *
 * @param id the id of the call or the message, or the name of the MCP server; empty for a conversation
 * @param tool the tool of a call
 */
public record WordSource(By by, Optional<String> id, Optional<String> tool) {
    /** What the words came with. The names are stored and shown to users. */
    public enum By {
        /** The result of a call. */
        @JsonProperty("call")
        CALL,
        /** Parts of a message that its sender did not write. */
        @JsonProperty("message")
        MESSAGE,
        /** The descriptions of an MCP server's tools. */
        @JsonProperty("server")
        SERVER,
        /** The task that the thread above gave, in its call with this id. */
        @JsonProperty("parent")
        PARENT,
        /** A conversation that another thread, agent or program has held. */
        @JsonProperty("conversation")
        CONVERSATION
    }

    /** A conversation that began elsewhere. */
    public static final WordSource CONVERSATION = new WordSource(By.CONVERSATION, Optional.empty(), Optional.empty());

    public WordSource {
        Objects.requireNonNull(by, "by");
    }

    /** The result of a call of this tool. */
    public static WordSource call(String id, String tool) {
        return new WordSource(By.CALL, Optional.of(id), Optional.of(tool));
    }

    /** What was attached to the message with this id. */
    public static WordSource message(String id) {
        return new WordSource(By.MESSAGE, Optional.of(id), Optional.empty());
    }

    /** The descriptions of the tools of this MCP server. */
    public static WordSource server(String name) {
        return new WordSource(By.SERVER, Optional.of(name), Optional.empty());
    }

    /** The task that the thread above gave in this call. */
    public static WordSource parent(String callId) {
        return new WordSource(By.PARENT, Optional.of(callId), Optional.empty());
    }

    /** The source for people, such as {@code the result of fetch_page, call p1}. */
    public String words() {
        return switch (by) {
            case CALL ->
                "the result of " + tool.orElse("a tool")
                        + id.map(call -> ", call " + call).orElse("");
            case MESSAGE -> "what was attached to message " + id.orElse("");
            case SERVER -> "the descriptions of the tools of MCP server " + id.orElse("");
            case PARENT -> "the task of this thread, from the thread above";
            case CONVERSATION -> "a conversation that began elsewhere";
        };
    }
}
