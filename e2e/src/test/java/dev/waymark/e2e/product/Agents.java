package dev.waymark.e2e.product;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/** Writes agents whose models follow a script into a directory. */
public final class Agents {
    private final Path directory;

    public Agents(Path directory) {
        this.directory = directory;
    }

    public Path directory() {
        return directory;
    }

    /** An agent of the repository, with the programs of all agents there. */
    public Agents shipped(String name) {
        Path shipped = Path.of("").toAbsolutePath().getParent().resolve("agents");
        try (Stream<Path> programs = Files.list(shipped.resolve("tools"))) {
            for (String file : List.of(name + ".yaml", name + ".script.yaml")) {
                Files.copy(shipped.resolve(file), directory.resolve(file));
            }
            Files.createDirectories(directory.resolve("tools"));
            for (Path program : programs.toList()) {
                Files.copy(program, directory.resolve("tools").resolve(program.getFileName()), COPY_ATTRIBUTES);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** An agent that asks for the day and then books. */
    public Agents assistant() {
        return agent("assistant", "tools: [{ use: ask_user }]", """
                replies:
                  - text: One thing first.
                    tool_calls: [{ id: tu_7, name: ask_user, input: { question: "Which day?" } }]
                    usage: { input_tokens: 41, output_tokens: 12 }
                  - text: Booked.
                    usage: { input_tokens: 66, output_tokens: 6 }
                """);
    }

    /** An agent that never asks. */
    public Agents greeter() {
        return agent("greeter", "", "replies: [{ text: Hello. }]");
    }

    /** An agent that prints the context of its thread. */
    public Agents tenant() {
        program("who.sh", "printf '%s' \"$WAYMARK_CONTEXT\"");
        return agent("tenant", """
                context: { tenant: acme, plan: gold }
                tools: [{ name: who, command: [./who.sh], safe_to_retry: true }]
                """, """
                replies:
                  - tool_calls: [{ id: tu_1, name: who, input: {} }]
                  - text: Them.
                """);
    }

    /** An agent that replies in prose first, and in JSON when it is asked again. */
    public Agents counter() {
        return agent("counter", "", """
                replies:
                  - text: Three.
                  - text: '{"n": 3}'
                """);
    }

    /** An agent whose model replies after this delay. */
    public Agents slow(String name, String delay) {
        return agent(name, "", "replies: [{ text: At last., delay: " + delay + " }]");
    }

    /**
     * An agent that makes this many calls at once. Each call needs approval, and call n charges n × 500 cents. Every
     * charge is a line in the file {@code NAME.ledger}.
     */
    public Agents charger(String name, int calls, String more) {
        StringBuilder uses = new StringBuilder();
        for (int i = 1; i <= calls; i++) {
            uses.append(i > 1 ? ", " : "")
                    .append("{ id: tu_" + i + ", name: charge_card, input: { cents: " + 500 * i + " } }");
        }
        program(
                name + "-charge.sh",
                "read -r args; echo \"$args\" >> " + name + ".ledger; printf 'charged %s' \"$args\"");
        return agent(name, """
                %s
                tools:
                  - name: charge_card
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: [./%s-charge.sh]
                    approval: always
                """.formatted(more, name), """
                replies:
                  - tool_calls: [%s]
                  - text: Charged.
                """.formatted(uses));
    }

    /**
     * An agent that requests refunds in three replies. Refunds up to 2,000 cents run, those of 8,000 or more never do,
     * and a person decides about others within 25 seconds. Every refund is a line in the file {@code refunds.ledger}:
     * the thread, the call and the arguments.
     */
    public Agents refunder() {
        program("refund.sh", """
                read -r args
                sleep 0.2
                echo "$WAYMARK_THREAD $WAYMARK_CALL_ID $args" >> refunds.ledger
                printf refunded
                """);
        return agent("refunder", """
                approvals: { by: human, timeout: 25s }
                tools:
                  - name: refund
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: [./refund.sh]
                    approval:
                      - { when: { properties: { cents: { minimum: 8000 } } }, then: deny, reason: too much }
                      - { when: { properties: { cents: { maximum: 2000 } } }, then: allow, reason: small }
                """, """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: refund, input: { cents: 5000 } }
                      - { id: tu_2, name: refund, input: { cents: 9000 } }
                      - { id: tu_3, name: refund, input: { cents: 1000 } }
                      - { id: tu_4, name: refund, input: { cents: 4000 } }
                  - tool_calls:
                      - { id: tu_5, name: refund, input: { cents: 5000 } }
                      - { id: tu_6, name: refund, input: { cents: 5000 } }
                      - { id: tu_7, name: refund, input: { cents: 4500 } }
                      - { id: tu_8, name: refund, input: { cents: 4600 } }
                  - tool_calls:
                      - { id: tu_9, name: refund, input: { cents: 5000 } }
                  - text: Done.
                """);
    }

    /** An agent whose tool charges without approval. Every charge is a line in {@code NAME.ledger}. */
    public Agents payer(String name) {
        program(name + "-charge.sh", """
                read -r args
                echo "$args" >> %s.ledger
                printf 'charged %%s' "$args"
                """.formatted(name));
        return agent(name, """
                tools:
                  - { name: charge_card, command: [./%s-charge.sh] }
                  - { name: look, command: [cat], safe_to_retry: true }
                """.formatted(name), "replies: [{ text: Paid. }]");
    }

    /** An agent whose tool charges at once, and then runs longer than its timeout. */
    public Agents dawdler(String name, String more) {
        program(name + "-charge.sh", "cat >> " + name + ".ledger; sleep 60");
        program(name + "-check.sh", "printf '{\"landed\":true,\"result\":\"charged after all\"}'");
        return agent(name, """
                tools:
                  - { name: charge_card, command: [./%s-charge.sh], timeout: 15s %s }
                """.formatted(name, more), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 500 } }]
                  - text: So be it.
                """);
    }

    /**
     * An agent whose tool needs approval, and then asks for the account. Every execution is a line in {@code
     * teller.ledger}.
     */
    public Agents teller() {
        program("teller-wire.sh", "cat >> teller.ledger; echo '{\"question\":\"To which account?\"}'; exit 10");
        return agent("teller", """
                tools:
                  - { name: wire, command: [./teller-wire.sh], approval: always }
                """, """
                replies:
                  - tool_calls: [{ id: tu_1, name: wire, input: { cents: 500 } }]
                  - text: "Wired: {{tu_1}}"
                """);
    }

    /** An agent that charges without approval, and at most once per thread for the same arguments. */
    public Agents deduping(String name) {
        program(name + "-charge.sh", "cat >> " + name + ".ledger; printf charged");
        return agent(name, """
                tools:
                  - { name: charge_card, command: [./%s-charge.sh], dedupe: session }
                """.formatted(name), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 500 } }]
                  - text: Charged.
                """);
    }

    /**
     * An agent that makes a plan, takes notes and charges twice, and asks a question together with the second charge.
     * Its ledger is {@code planner.ledger}.
     */
    public Agents planner() {
        program("planner-charge.sh", "read -r args; echo \"$args\" >> planner.ledger; printf 'charged %s' \"$args\"");
        return agent("planner", """
                instructions: You plan. é😀
                pricing: { input: 3.0, output: 15.0 }
                tools:
                  - use: ask_user
                  - use: todos
                  - use: plan
                  - use: files
                  - { name: charge_card, command: [./planner-charge.sh] }
                """, """
                replies:
                  - text: A plan first. 漢
                    tool_calls:
                      - { id: tu_1, name: write_todos, input: { todos: [{ id: "1", content: é😀, status: in_progress }] } }
                      - { id: tu_2, name: write_plan, input: { goal: Pay, steps: [{ id: "1", description: d, status: done }] } }
                      - { id: tu_3, name: write_file, input: { path: notes.txt, content: "one\\ntwo" } }
                      - { id: tu_4, name: charge_card, input: { cents: 500 } }
                    usage: { input_tokens: 41, output_tokens: 12 }
                  - text: One thing more.
                    tool_calls:
                      - { id: tu_5, name: charge_card, input: { cents: 1.5e-7 } }
                      - { id: tu_6, name: ask_user, input: { question: "Which day?" } }
                      - { id: tu_7, name: nothing, input: {} }
                    usage: { input_tokens: 66, output_tokens: 6 }
                  - text: Booked.
                """);
    }

    /** An agent whose tool times out with an unknown outcome, so that a person must settle the call. */
    public Agents unsure() {
        return unsure("unsure", "");
    }

    /** Like {@link #unsure()}, but the tool honors the idempotency key. */
    public Agents unsureHonoured() {
        return unsure("unsure-honoured", ", honours_key: true");
    }

    private Agents unsure(String name, String more) {
        return agent(name, """
                tools:
                  - { name: charge_card, command: [sleep, "60"], timeout: 1s, on_unknown: ask%s }
                """.formatted(more), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 500 } }]
                  - text: So be it.
                """);
    }

    /**
     * An agent that lets the subagent {@code clerk} charge 500 cents after approval. Both models have a price. Every
     * charge is a line in the file {@code clerk.ledger}, with the context.
     */
    public Agents boss() {
        String price = "pricing: { input: 10, output: 10 }\n";
        program("clerk-charge.sh", "read -r args; echo \"$args $WAYMARK_CONTEXT\" >> clerk.ledger; printf charged");
        agent("boss", price + "budget: { usd: 1 }\nsubagents: [clerk]", """
                replies:
                  - tool_calls: [{ id: tu_7, name: clerk, input: { task: "Charge 500 cents." } }]
                    usage: { input_tokens: 1000, output_tokens: 0 }
                  - text: It is done.
                    usage: { input_tokens: 1000, output_tokens: 0 }
                """);
        return agent("clerk", price + """
                tools: [{ name: charge_card, command: [./clerk-charge.sh], approval: always }]
                """, """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 500 } }]
                    usage: { input_tokens: 3000, output_tokens: 0 }
                  - text: Charged.
                    usage: { input_tokens: 3000, output_tokens: 0 }
                """);
    }

    /** An agent that gives a task to the subagent {@code below}. */
    public Agents above(String name, String below) {
        return agent(name, "subagents: [" + below + "]", """
                replies:
                  - tool_calls: [{ id: tu_7, name: %s, input: { task: Go. } }]
                  - text: It is done.
                """.formatted(below));
    }

    /** An agent that makes four calls at once: one asks a question, one needs approval, one fails, one succeeds. */
    public Agents parallel() {
        program("pay.sh", "read -r args; printf 'paid %s' \"$args\"");
        program("ask.sh", "echo '{\"question\":\"Which day?\"}'; exit 10");
        program("fail.sh", "echo 'no such file' >&2; exit 1");
        program("look.sh", "printf sunny");
        return agent("parallel", """
                tools:
                  - { name: ask, command: [./ask.sh] }
                  - { name: pay, command: [./pay.sh], approval: always }
                  - { name: fail, command: [./fail.sh] }
                  - { name: look, command: [./look.sh], safe_to_retry: true }
                """, """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: ask, input: {} }
                      - { id: tu_2, name: pay, input: { cents: 5 } }
                      - { id: tu_3, name: fail, input: {} }
                      - { id: tu_4, name: look, input: {} }
                  - text: All done.
                """);
    }

    /** An agent that charges after one of these signers approves. The ledger is the file {@code charged}. */
    public Agents signed(String signers) {
        program("charge.sh", "echo x >>charged; echo paid");
        return agent("billing", """
                approvals: { signers: { %s } }
                tools: [{ name: charge, command: [./charge.sh], approval: always }]
                """.formatted(signers), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge, input: { cents: 5 } }]
                  - text: Done.
                """);
    }

    /**
     * An agent whose tools search the environments of all processes on this machine for two values: {@code
     * OPENAI_API_KEY}, which no tool gets, and {@code GIVEN_TOKEN}, which the second tool gets. The values are {@code
     * value} with the suffix {@code -model} or {@code -given}. The tools print only the number of matches, because the
     * values would be masked.
     */
    public Agents spy(String value) {
        program(
                "search.sh",
                "printf 'found %s\\n' \"$(cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '=" + value
                        + "-'$WHICH)\" || true");
        return agent("spy", """
                tools:
                  - { name: others, command: [./search.sh], env: { WHICH: model }, safe_to_retry: true }
                  - name: own
                    command: [./search.sh]
                    env: { WHICH: given, TOKEN: "${GIVEN_TOKEN}" }
                    safe_to_retry: true
                """, """
                replies:
                  - tool_calls: [{ id: tu_1, name: others, input: {} }]
                  - tool_calls: [{ id: tu_2, name: own, input: {} }]
                  - text: "{{tu_1}} {{tu_2}}"
                """);
    }

    public void program(String file, String commands) {
        try {
            Path program = directory.resolve(file);
            Files.writeString(program, "#!/bin/sh\nset -eu\n" + commands + "\n");
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An agent with a script for its model, and these further fields. */
    public Agents agent(String name, String more, String script) {
        try {
            Files.writeString(
                    directory.resolve(name + ".yaml"), "model: scripted:" + name + ".script.yaml\n" + more + "\n");
            Files.writeString(directory.resolve(name + ".script.yaml"), script);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }
}
