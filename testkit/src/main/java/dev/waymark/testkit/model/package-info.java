/**
 * The contract of model providers, and what a fake model service answers in it. Must not depend on a particular
 * provider.
 */
@NullMarked
package dev.waymark.testkit.model;

import org.jspecify.annotations.NullMarked;
