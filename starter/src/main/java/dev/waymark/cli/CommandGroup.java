package dev.waymark.cli;

/** The sections of the help, in their order. Each lists its commands by name. */
public enum CommandGroup {
    START("Start"),
    DECIDE("Decide"),
    LOOK("Look"),
    CONTINUE("Continue a conversation"),
    END("End"),
    RUN_AGENTS("Run agents"),
    ROLL_OUT("Roll out"),
    SERVE("Serve"),
    INSTALL("Install");

    private final String heading;

    CommandGroup(String heading) {
        this.heading = heading;
    }

    public String heading() {
        return heading;
    }
}
