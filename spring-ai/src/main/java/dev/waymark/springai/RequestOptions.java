package dev.waymark.springai;

import dev.waymark.model.ModelRequest;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.util.ReflectionUtils;

/**
 * The options of a request and of a model, for both lines of Spring AI. Version 1 merges the options of a request into
 * those of the model, and runs tools unless it is told not to. Version 2 takes the options of a request as they are,
 * which must have the model's own type, and never runs tools.
 */
final class RequestOptions {
    /** Copies the options of a model. Only version 2 has this method, and this module is compiled with version 1. */
    private static final @Nullable Method MUTATE = ReflectionUtils.findMethod(ToolCallingChatOptions.class, "mutate");

    private RequestOptions() {}

    static ToolCallingChatOptions of(ModelRequest request, List<ToolCallback> tools, ChatOptions own) {
        ToolCallingChatOptions.Builder options = builder(own).toolCallbacks(tools);
        // Reasoning models have this limit instead of the usual one, and reject the usual one.
        if (BeanProperties.read(own, "maxCompletionTokens").isEmpty()) {
            options.maxTokens(request.maxTokens());
        }
        ToolCallingChatOptions built = options.build();
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(built);
        if (properties.isWritableProperty("internalToolExecutionEnabled")) {
            properties.setPropertyValue("internalToolExecutionEnabled", false);
        }
        return built;
    }

    private static ToolCallingChatOptions.Builder builder(ChatOptions own) {
        return MUTATE != null && own instanceof ToolCallingChatOptions
                ? (ToolCallingChatOptions.Builder) Objects.requireNonNull(ReflectionUtils.invokeMethod(MUTATE, own))
                : ToolCallingChatOptions.builder();
    }

    /** Returns the names of the tools that a model is configured with. */
    static List<String> tools(ChatOptions own) {
        List<String> names = new ArrayList<>();
        if (BeanProperties.read(own, "toolNames").orElse(List.of()) instanceof Collection<?> known) {
            known.forEach(name -> names.add(String.valueOf(name)));
        }
        if (BeanProperties.read(own, "toolCallbacks").orElse(List.of()) instanceof Collection<?> known) {
            known.forEach(
                    tool -> names.add(((ToolCallback) tool).getToolDefinition().name()));
        }
        return names;
    }

    /** Returns how often the client of a model retries. Only version 2 has clients that do. */
    static int retries(ChatOptions own) {
        return BeanProperties.read(own, "maxRetries").orElse(0) instanceof Integer retries ? retries : 0;
    }
}
