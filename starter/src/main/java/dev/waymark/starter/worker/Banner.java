package dev.waymark.starter.worker;

import dev.waymark.cli.CommandName;
import dev.waymark.worker.agents.AgentDirectory;

/** Parts of the messages for people at a terminal. */
final class Banner {

    /** The address that clients use by default. */
    private static final String DEFAULT_ADDRESS = "127.0.0.1:7233";

    private Banner() {}

    /** Returns the name of this program, as set by the launcher. */
    static String command() {
        return CommandName.get();
    }

    /** Returns the option that a command needs to reach the server, with a leading space; empty if it needs none. */
    static String addressOption(String address) {
        return address.equals(DEFAULT_ADDRESS) ? "" : " --address " + address;
    }

    static String agents(AgentDirectory agents) {
        return agents.names().isEmpty()
                ? "none; each *.yaml in " + agents.path() + " defines one"
                : String.join(", ", agents.names());
    }
}
