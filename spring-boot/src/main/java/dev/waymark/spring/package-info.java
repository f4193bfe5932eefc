/**
 * Runs agents in a Spring Boot application: its beans become agents, tools and model providers, and the worker starts
 * and stops with it. Works with Spring Boot 3.5 and 4. Must not know which model is called, nor what a tool does.
 *
 * <p>Begin with {@link WaymarkAutoConfiguration}, the beans, which link to all others.
 */
@NullMarked
package dev.waymark.spring;

import org.jspecify.annotations.NullMarked;
