package dev.waymark.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Adds a command to the help of the program, in addition to picocli's {@code @Command}. Hidden commands have none. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface HelpEntry {
    /** The section that lists the command, with the first paragraph of its description. */
    CommandGroup group();

    /** Command lines without the name of the program, for the command's own help. */
    String[] examples() default {};
}
