/**
 * What providers have in common, above all those that adapt models of other libraries. Must not know the libraries, or
 * who calls.
 */
@NullMarked
package dev.waymark.model.adapter;

import org.jspecify.annotations.NullMarked;
