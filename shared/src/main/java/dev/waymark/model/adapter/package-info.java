/**
 * What providers that adapt models of other libraries have in common. Must not know the libraries, or who calls.
 */
@NullMarked
package dev.waymark.model.adapter;

import org.jspecify.annotations.NullMarked;
