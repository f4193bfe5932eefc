/**
 * Tests what operators, networks and servers do to threads whose tools have side effects. Must not depend on how claims
 * work: only the ledger decides.
 */
@NullMarked
package dev.waymark.worker.operators;

import org.jspecify.annotations.NullMarked;
