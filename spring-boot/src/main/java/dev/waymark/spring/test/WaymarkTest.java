package dev.waymark.spring.test;

import dev.waymark.spring.AgentWorkerCustomizer;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolMethod;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTestContextBootstrapper;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Tests the agents of an application on an in-memory server, without the rest of the application: no web server, no
 * database. The context contains only these classes of the application: those with {@link ToolMethod} methods,
 * {@link Tool}s, model providers, {@link AgentWorkerCustomizer}s, and configurations with a bean method for one of them
 * or for an agent. The test provides any other beans that these need. Needs {@code waymark-testkit} on the class path.
 *
 * <pre>{@code
 * @WaymarkTest
 * class BillingTest {
 *     @Autowired
 *     AgentClient client;
 *
 *     @TestConfiguration
 *     static class Model {
 *         @Bean
 *         ModelProvider anthropic() { // in place of the real one
 *             return ScriptedModel.of(Reply.of(new Part.Text("Done.")));
 *         }
 *     }
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(SpringBootTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@ImportAutoConfiguration
@OnInMemoryServer
public @interface WaymarkTest {}
