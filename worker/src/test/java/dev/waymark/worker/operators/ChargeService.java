package dev.waymark.worker.operators;

import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.VerifyResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Tools that charge money, declared in different ways, with a record of their charges. */
final class ChargeService {
    static final String CHARGE = "charge";
    static final String APPROVED = "charge_approved";
    static final String DEDUPLICATED = "charge_deduplicated";
    /** A person settles unknown outcomes. */
    static final String ASKING = "charge_asking";
    /** Unknown outcomes are verified. */
    static final String VERIFIED = "charge_verified";

    static final List<String> KINDS = List.of(CHARGE, APPROVED, DEDUPLICATED, ASKING, VERIFIED);

    /** Timeout of {@link #ASKING} and {@link #VERIFIED}, so that tests which wait for it do not take long. */
    static final Duration SHORT = Duration.ofSeconds(2);

    private final FileLedger ledger;
    private final Map<String, ToolBarrier> before = new ConcurrentHashMap<>();
    private final Map<String, ToolBarrier> after = new ConcurrentHashMap<>();
    private final Map<String, ToolBarrier> verifying = new ConcurrentHashMap<>();

    record Charge(int cents) {}

    ChargeService(Path ledger) {
        this.ledger = new FileLedger(ledger);
    }

    /** Makes charges of this thread wait just before they take effect. */
    ToolBarrier holdBefore(String thread) {
        return before.computeIfAbsent(thread, name -> new ToolBarrier());
    }

    /** Makes charges of this thread wait after they took effect, before they return. */
    ToolBarrier holdAfter(String thread) {
        return after.computeIfAbsent(thread, name -> new ToolBarrier());
    }

    /** Makes verifications of this thread's charges wait until the barrier opens. */
    ToolBarrier holdVerifying(String thread) {
        return verifying.computeIfAbsent(thread, name -> new ToolBarrier());
    }

    List<Tool> tools() {
        return List.of(
                tool(CHARGE),
                tool(APPROVED).approval(),
                tool(DEDUPLICATED).dedupe(),
                tool(ASKING).askOnUnknown().timeout(SHORT),
                tool(VERIFIED).timeout(SHORT).verify(this::verify));
    }

    /** The number of times that this amount was charged for the thread. */
    long charged(String thread, int cents) {
        String line = line(thread, cents);
        return ledger.effects().stream().filter(line::equals).count();
    }

    private JavaTool<Charge> tool(String name) {
        return JavaTool.of(name, "Charges the card", Charge.class, this::charge).timeout(Duration.ofMinutes(2));
    }

    private String charge(Charge args, ToolContext context) throws InterruptedException {
        pass(before, context);
        ledger.add(line(context.thread(), args.cents()));
        pass(after, context);
        return "charged " + args.cents();
    }

    private VerifyResult verify(Charge args, ToolContext context) throws InterruptedException {
        pass(verifying, context);
        return charged(context.thread(), args.cents()) > 0
                ? VerifyResult.landed("was charged")
                : VerifyResult.notLanded();
    }

    private static void pass(Map<String, ToolBarrier> gates, ToolContext context) throws InterruptedException {
        if (gates.containsKey(context.thread())) {
            gates.get(context.thread()).pass();
        }
    }

    private static String line(String thread, int cents) {
        return thread + " " + cents;
    }
}
