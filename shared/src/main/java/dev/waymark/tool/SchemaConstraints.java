package dev.waymark.tool;

import java.lang.annotation.Annotation;
import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads the constraints of a record's component from annotations of Jakarta Validation, by their names: applications that
 * use them have the library, and others do without.
 */
final class SchemaConstraints {
    private static final String PACKAGE = "jakarta.validation.constraints.";

    private SchemaConstraints() {}

    static Map<String, Object> of(RecordComponent component) {
        Map<String, Object> constraints = new LinkedHashMap<>();
        for (Annotation annotation : component.getAccessor().getAnnotations()) {
            String name = annotation.annotationType().getName();
            if (name.startsWith(PACKAGE)) {
                add(constraints, name.substring(PACKAGE.length()), annotation, component.getType());
            }
        }
        return constraints;
    }

    private static void add(Map<String, Object> constraints, String name, Annotation annotation, Class<?> type) {
        switch (name) {
            case "Min" -> constraints.put("minimum", value(annotation, "value"));
            case "Max" -> constraints.put("maximum", value(annotation, "value"));
            case "Positive" -> constraints.put("exclusiveMinimum", 0);
            case "PositiveOrZero" -> constraints.put("minimum", 0);
            case "Size" -> {
                constraints.put("min" + unit(type), value(annotation, "min"));
                if (!Integer.valueOf(Integer.MAX_VALUE).equals(value(annotation, "max"))) {
                    constraints.put("max" + unit(type), value(annotation, "max"));
                }
            }
            case "NotEmpty" -> constraints.put("min" + unit(type), 1);
            case "NotBlank" -> constraints.put("pattern", "\\S");
            // Jakarta's pattern must match the whole text, and that of a schema a part.
            case "Pattern" -> constraints.put("pattern", "^(?:" + value(annotation, "regexp") + ")$");
            default -> {
                // Other constraints cannot be expressed, or are not about values.
            }
        }
    }

    private static String unit(Class<?> type) {
        return Map.class.isAssignableFrom(type)
                ? "Properties"
                : Iterable.class.isAssignableFrom(type) ? "Items" : "Length";
    }

    private static Object value(Annotation annotation, String attribute) {
        try {
            return annotation.annotationType().getMethod(attribute).invoke(annotation);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("@" + annotation.annotationType().getName() + " has no " + attribute, e);
        }
    }
}
