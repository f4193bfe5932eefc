package dev.waymark.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the application of a Spring test on an in-memory server, regardless of the connection that the application
 * configures. The server stops with the application context. Needs {@code waymark-testkit} on the class path.
 *
 * <pre>{@code
 * @SpringBootTest
 * @OnInMemoryServer
 * class ShopTest {
 *     @Autowired
 *     AgentClient client;
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface OnInMemoryServer {}
