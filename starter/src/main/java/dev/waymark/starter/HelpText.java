package dev.waymark.starter;

import dev.waymark.cli.CommandName;
import dev.waymark.cli.HelpWord;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The help of the whole command line: commands by purpose, examples, exit codes, settings. */
final class HelpText {
    private static final Map<String, List<String>> GROUPS = groups();
    private static final Map<String, List<String>> EXAMPLES = examples();

    /** The descriptions of commands that are not in this jar, but in the worker's or in {@code ./waymark} itself. */
    private static final Map<String, String> ELSEWHERE = elsewhere();

    private static final List<String> EXIT_CODES = List.of(
            "0  done, or the turn waits for a person",
            "1  the turn failed, was stopped or cancelled, or reached a limit; verify or gate found a problem",
            "2  bad usage or input",
            "3  no such thread, version, call, agent or file; nothing open to answer; the thread is closed",
            "4  the turn waits for a person, with --assert-complete",
            "5  the Temporal server, or the storage of thread keys, cannot be reached",
            "6  timed out (the turn continues), or no worker accepted the work within 10 s",
            "7  the saver failed, did not respond, or has a newer checkpoint; if a turn ran, it ended but was not saved");

    private static final List<String> SETTINGS = List.of(
            "TEMPORAL_ADDRESS    HOST:PORT of the server; default 127.0.0.1:7233",
            "TEMPORAL_NAMESPACE  its namespace; for TLS, API keys and profiles, see Temporal's CLI",
            "WAYMARK_TASK_QUEUE  the task queue; default waymark",
            "WAYMARK_SAVER       where checkpoints are saved, such as file:checkpoints",
            "WAYMARK_AGENTS      the directory of the agent files; default agents",
            "WAYMARK_PRICES      YAML file of model prices, which override the built-in ones",
            "WAYMARK_CODEC_KEYS  keys that encrypt payloads: ID:KEY,… or file:PATH",
            "WAYMARK_THREAD_KEYS where the keys of individual threads are stored: file:DIR or jdbc:…",
            "NO_COLOR            disables colours in chat");

    private HelpText() {}

    private static Map<String, List<String>> groups() {
        Map<String, List<String>> groups = new LinkedHashMap<>();
        groups.put("Start", List.of("demo", "dev", "run", "chat", "say"));
        groups.put("Decide", List.of("pending", "answer", "approve", "deny", "settle", "budget", "keygen"));
        groups.put(
                "Look",
                List.of(
                        "sessions",
                        "show",
                        "watch",
                        "result",
                        "calls",
                        "files",
                        "checkpoint",
                        "checkpoints",
                        "verify",
                        "trace"));
        groups.put("Continue a conversation", List.of("resume", "fork", "save"));
        groups.put("End", List.of("stop", "clear", "close", "cancel", "forget"));
        groups.put("Run agents", List.of("worker", "agents", "tools"));
        groups.put("Roll out", List.of("setup", "gate", "export"));
        groups.put("Serve", List.of("serve", "token", "codec", "rewrap"));
        groups.put("Install", List.of("install", "completion"));
        return groups;
    }

    private static Map<String, String> elsewhere() {
        Map<String, String> commands = new LinkedHashMap<>();
        commands.put("dev", "Runs a development server, a worker and the console.");
        commands.put("worker", "Runs agents on an existing server.");
        commands.put("agents", "Checks the agent files and lists them.");
        commands.put("tools", "Lists the tools of an agent, or runs a safe one.");
        commands.put("gate", "Checks that a new build can continue the open threads.");
        commands.put("export", "Writes a thread's history to a file, for tests and for gate.");
        commands.put("install", "Links waymark into a directory on PATH and installs completion.");
        commands.put("completion", "Prints a completion script: bash, zsh or fish.");
        return commands;
    }

    private static Map<String, List<String>> examples() {
        Map<String, List<String>> examples = new LinkedHashMap<>();
        examples.put(
                "run",
                List.of("run --agent assistant \"Hello\"", "run --agent assistant --thread trip \"Book a table\""));
        examples.put("chat", List.of("chat --agent assistant", "chat --session my-project --saver file:checkpoints"));
        examples.put("say", List.of("say trip \"For two, please\"", "say trip --retry"));
        examples.put("answer", List.of("answer trip Friday"));
        examples.put(
                "approve",
                List.of("approve table-9 --by ann", "approve table-9 --args '{\"table\":9,\"cents\":8000}'"));
        examples.put("deny", List.of("deny table-9 --reason \"Too expensive\""));
        examples.put("serve", List.of("serve --tokens tokens.json", "serve --no-auth"));
        examples.put("token", List.of("token ann --role talk,decide --group support"));
        examples.put("settle", List.of("settle table-9 --call tu_1 --outcome done --result \"receipt 7\""));
        examples.put("budget", List.of("budget trip --usd 2.50", "budget trip --iterations 20"));
        examples.put("pending", List.of("pending", "pending trip --json", "pending --kind approval --agent assistant"));
        examples.put("sessions", List.of("sessions --status interrupted --limit 10", "sessions --agent assistant"));
        examples.put("show", List.of("show trip"));
        examples.put("watch", List.of("watch trip", "watch trip --json"));
        examples.put("setup", List.of("setup"));
        examples.put("forget", List.of("forget trip", "forget trip --terminate --yes"));
        examples.put("rewrap", List.of("rewrap"));
        examples.put("trace", List.of("trace trip --to http://127.0.0.1:4318/v1/traces", "trace --all --follow"));
        examples.put("result", List.of("result trip --timeout 30s"));
        examples.put("calls", List.of("calls trip --full"));
        examples.put("files", List.of("files trip", "files trip NOTES.md"));
        examples.put("checkpoint", List.of("checkpoint trip --format session", "checkpoint trip --at 2"));
        examples.put(
                "resume",
                List.of(
                        "resume trip --answer \"For three\"",
                        "resume checkpoint.json --agent assistant --answer Friday"));
        examples.put("fork", List.of("fork trip --at 2 --thread other \"On Saturday\""));
        examples.put(
                "save", List.of("save trip --to file:checkpoints", "save --all --follow --to jdbc:sqlite:threads.db"));
        return examples;
    }

    /** Returns all commands of {@code ./waymark}, including those that are not in this jar. */
    static Set<String> commands() {
        Set<String> commands = new LinkedHashSet<>();
        GROUPS.values().forEach(commands::addAll);
        return commands;
    }

    /** Formats the help of the program itself. */
    static void describe(CommandLine waymark) {
        UsageMessageSpec usage = waymark.getCommandSpec().usageMessage();
        usage.customSynopsis(CommandName.get() + " COMMAND [OPTIONS]");
        waymark.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
        waymark.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, HelpText::commandList);
        waymark.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_FOOTER, help -> footer());
    }

    /** Adds the examples of a command to its help. */
    static void describe(String name, CommandSpec command) {
        HelpWord.addExamples(command, EXAMPLES.getOrDefault(name, List.of()));
    }

    private static String commandList(Help help) {
        Map<String, Help> own = help.subcommands();
        return GROUPS.entrySet().stream()
                .map(group -> HelpWord.section(
                        group.getKey(),
                        group.getValue().stream()
                                .map(name -> String.format("%-12s %s", name, words(own, name)))
                                .toList()))
                .collect(Collectors.joining());
    }

    private static String words(Map<String, Help> own, String name) {
        return own.containsKey(name)
                ? String.format(own.get(name).commandSpec().usageMessage().description()[0])
                : ELSEWHERE.getOrDefault(name, "");
    }

    private static String footer() {
        return HelpWord.section("Exit codes", EXIT_CODES) + HelpWord.section("Settings", SETTINGS)
                + "\nHelp for a command: " + CommandName.lineWithoutServer("help COMMAND") + "\n";
    }
}
