package dev.waymark.worker.cli;

import dev.waymark.worker.agents.AgentDirectory;

/** Words for people at a terminal. */
final class Banner {

    private Banner() {}

    static String agents(AgentDirectory agents) {
        return agents.names().isEmpty()
                ? "none: every *.yaml in " + agents.path() + " would be one"
                : String.join(", ", agents.names());
    }
}
