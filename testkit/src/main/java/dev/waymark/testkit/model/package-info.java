/**
 * Fake model services over real HTTP, as strict as the real ones, and the contract of providers. Must not depend on a
 * particular provider.
 */
@NullMarked
package dev.waymark.testkit.model;

import org.jspecify.annotations.NullMarked;
