/**
 * Adapts models and tools of Spring AI to providers and tools of Waymark. Must not know which services are behind the
 * models, nor Spring Boot.
 */
@NullMarked
package dev.waymark.springai;

import org.jspecify.annotations.NullMarked;
