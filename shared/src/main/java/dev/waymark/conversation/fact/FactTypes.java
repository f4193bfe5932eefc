package dev.waymark.conversation.fact;

import java.util.Locale;

/** Caches the types of facts, which are needed several times per fact. */
final class FactTypes {
    static final ClassValue<String> NAMES = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> fact) {
            return fact.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
        }
    };

    private FactTypes() {}
}
