/**
 * Agents in a Spring Boot application: its beans become agents, tools and model providers, and its life cycle is the
 * worker's. Works with Spring Boot 3.5 and 4. Must not know which model is called, nor what a tool does.
 */
@NullMarked
package dev.waymark.spring;

import org.jspecify.annotations.NullMarked;
