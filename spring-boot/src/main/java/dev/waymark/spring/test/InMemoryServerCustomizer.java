package dev.waymark.spring.test;

import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.Connection;
import dev.waymark.saver.KeyValueSaver;
import dev.waymark.saver.MemoryStore;
import dev.waymark.worker.server.DevServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Connects an application context to an in-memory server of its own. This is a record, because Spring compares
 * customizers to decide whether test classes can share a context.
 *
 * @param slice whether the rest of the application is left out
 */
record InMemoryServerCustomizer(boolean slice) implements ContextCustomizer {
    private static final String SERVER = "waymarkInMemoryServer";
    private static final String CONNECTION = "waymarkConnection";
    private static final String SAVING = "waymarkSaveOptions";

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
        BeanDefinitionRegistry beans = (BeanDefinitionRegistry) context.getBeanFactory();
        beans.registerBeanDefinition(
                SERVER,
                BeanDefinitionBuilder.genericBeanDefinition(DevServer.class, InMemoryServerCustomizer::start)
                        .setDestroyMethodName("close")
                        .getBeanDefinition());
        beans.registerBeanDefinition(
                CONNECTION,
                BeanDefinitionBuilder.genericBeanDefinition(
                                Connection.class,
                                () -> connect(
                                        context.getBean(SERVER, DevServer.class).address()))
                        .addDependsOn(SERVER)
                        .setDestroyMethodName("close")
                        .getBeanDefinition());
        // Without a saver, named threads would be refused, because this server forgets them when it stops. The
        // application's own saver takes precedence.
        beans.registerBeanDefinition(
                SAVING,
                BeanDefinitionBuilder.genericBeanDefinition(
                                SaveOptions.class, () -> SaveOptions.in(new KeyValueSaver(new MemoryStore())))
                        .setFallback(true)
                        .getBeanDefinition());
        if (slice) {
            context.getBeanFactory()
                    .registerSingleton(SliceFilter.class.getName(), (TypeExcludeFilter) new SliceFilter());
        }
    }

    private static DevServer start() {
        try {
            return DevServer.inMemory(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    "the in-memory server is not on the class path. Add waymark-testkit with scope test", e);
        }
    }

    /** Connects without settings from the environment. */
    private static Connection connect(String address) {
        return Connection.of(Map.of("TEMPORAL_ADDRESS", address), Optional.empty());
    }
}
