/**
 * Skills: folders with a file {@code SKILL.md}, which the operators of an agent provide and a model reads. Nothing in
 * them is run. Must not depend on other kinds of tools.
 */
@NullMarked
package dev.waymark.worker.tool.skill;

import org.jspecify.annotations.NullMarked;
