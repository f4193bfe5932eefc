/**
 * Adapts models and tools of LangChain4j to providers and tools of Waymark. Must not know which services are behind the
 * models.
 */
@NullMarked
package dev.waymark.langchain4j;

import org.jspecify.annotations.NullMarked;
