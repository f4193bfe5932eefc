package dev.waymark.spring.test;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Creates the customizer for test classes with {@link OnInMemoryServer}, which {@link WaymarkTest} includes. */
final class WaymarkTestCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configAttributes) {
        return TestContextAnnotationUtils.hasAnnotation(testClass, OnInMemoryServer.class)
                ? new InMemoryServerCustomizer(TestContextAnnotationUtils.hasAnnotation(testClass, WaymarkTest.class))
                : null;
    }
}
