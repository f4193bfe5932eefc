package dev.waymark.conversation.fact;

import java.util.Locale;

/** The types of facts. Each fact is asked for its type several times. */
final class FactTypes {
    static final ClassValue<String> NAMES = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> fact) {
            return fact.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
        }
    };

    private FactTypes() {}
}
