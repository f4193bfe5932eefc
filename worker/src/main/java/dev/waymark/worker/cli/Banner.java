package dev.waymark.worker.cli;

import dev.waymark.cli.CommandName;
import dev.waymark.worker.agents.AgentDirectory;

/** Words for people at a terminal. */
final class Banner {

    /** Where clients look for a server that nobody names. */
    private static final String DEFAULT_ADDRESS = "127.0.0.1:7233";

    private Banner() {}

    /** How a person calls this program, by the launcher's word. */
    static String command() {
        return CommandName.get();
    }

    /** What a command needs to reach a server, with a space before it. */
    static String addressOption(String address) {
        return address.equals(DEFAULT_ADDRESS) ? "" : " --address " + address;
    }

    static String agents(AgentDirectory agents) {
        return agents.names().isEmpty()
                ? "none: every *.yaml in " + agents.path() + " would be one"
                : String.join(", ", agents.names());
    }
}
