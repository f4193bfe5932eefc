/**
 * Shared parts of model providers, mainly of providers that adapt the models of other libraries. Must not know the
 * libraries, or who calls.
 */
@NullMarked
package dev.waymark.model.adapter;

import org.jspecify.annotations.NullMarked;
