package dev.waymark.spring.test;

import dev.waymark.model.ModelProvider;
import dev.waymark.spring.AgentWorkerCustomizer;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolMethod;
import dev.waymark.worker.Agent;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.filter.AssignableTypeFilter;

/** Excludes the classes of the application that have nothing to do with agents. */
final class SliceFilter extends TypeExcludeFilter {
    private static final List<Class<?>> PARTS = List.of(Tool.class, ModelProvider.class, AgentWorkerCustomizer.class);

    @Override
    public boolean match(MetadataReader reader, MetadataReaderFactory readers) throws IOException {
        AnnotationMetadata type = reader.getAnnotationMetadata();
        if (type.hasAnnotatedMethods(ToolMethod.class.getName()) || hasBeanMethod(type)) {
            return false;
        }
        for (Class<?> part : PARTS) {
            if (new AssignableTypeFilter(part).match(reader, readers)) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasBeanMethod(AnnotationMetadata type) {
        return type.getAnnotatedMethods(Bean.class.getName()).stream()
                .map(method -> method.getReturnTypeName())
                .anyMatch(returned -> returned.equals(Agent.class.getName())
                        || PARTS.stream().anyMatch(part -> returned.equals(part.getName())));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SliceFilter;
    }

    @Override
    public int hashCode() {
        return SliceFilter.class.hashCode();
    }
}
