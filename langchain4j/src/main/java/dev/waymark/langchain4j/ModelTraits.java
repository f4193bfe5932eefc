package dev.waymark.langchain4j;

import dev.langchain4j.model.ModelProvider;
import dev.langchain4j.model.chat.StreamingChatModel;
import java.util.regex.Pattern;

/**
 * What a request must take into account about its model.
 *
 * @param name the service's name of the model, or the registered one if the model does not tell
 * @param isGemini whether LangChain4j's module for Gemini translates the request
 */
record ModelTraits(String name, boolean isGemini) {
    private static final Pattern ACCEPTS_UNSIGNED_CALLS = Pattern.compile(".*gemini-[12]\\b.*");

    /** As of 2026-11-28. With thinking enabled, they reject the request after a call if the thinking is not sent back. */
    private static final Pattern NEEDS_ITS_THINKING = Pattern.compile(".*claude-(3|(opus|sonnet|haiku)-4).*");

    static ModelTraits of(String registered, StreamingChatModel model) {
        ModelProvider provider = model.provider();
        String name = model.defaultRequestParameters().modelName();
        return new ModelTraits(
                name == null ? registered : name,
                provider == ModelProvider.GOOGLE_AI_GEMINI || provider == ModelProvider.GOOGLE_VERTEX_AI_GEMINI);
    }

    /**
     * Whether the service binds thinking to everything before it. LangChain4j merges all thinking of a reply into one
     * text, which differs from what the model sent.
     */
    boolean bindsThinking() {
        return name.contains("claude") && !NEEDS_ITS_THINKING.matcher(name).matches();
    }

    /** Whether the service rejects calls without a signature. Gemini does so from version 3 on. */
    boolean demandsSignatures() {
        return isGemini && !ACCEPTS_UNSIGNED_CALLS.matcher(name).matches();
    }
}
