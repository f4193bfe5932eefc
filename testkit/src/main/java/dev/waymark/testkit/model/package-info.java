/**
 * Services of models that are not there: over real HTTP, as strict as the real ones, and the contract that every provider
 * keeps. Must not know any provider.
 */
@NullMarked
package dev.waymark.testkit.model;

import org.jspecify.annotations.NullMarked;
