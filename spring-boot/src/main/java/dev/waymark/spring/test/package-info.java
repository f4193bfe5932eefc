/** Support for tests of applications on the in-memory server. Must not be used outside of tests. */
@NullMarked
package dev.waymark.spring.test;

import org.jspecify.annotations.NullMarked;
