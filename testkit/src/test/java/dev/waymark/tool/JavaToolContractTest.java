package dev.waymark.tool;

import dev.waymark.conversation.value.Json;
import dev.waymark.testkit.ToolContract;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

class JavaToolContractTest extends ToolContract {
    /** Charges cards, and recognizes repeated requests by their keys. */
    private static final class Bank {
        private final Map<String, String> receipts = new ConcurrentHashMap<>();
        private final AtomicInteger charges = new AtomicInteger();

        String charge(String key, int cents) {
            return receipts.computeIfAbsent(key, any -> "receipt " + charges.incrementAndGet() + " for " + cents);
        }

        VerifyResult find(String key) {
            String receipt = receipts.get(key);
            return receipt == null ? VerifyResult.notLanded() : VerifyResult.landed(receipt);
        }
    }

    record Charge(int cents) {}

    private Bank bank;

    @Override
    protected Tool open() {
        bank = new Bank();
        return JavaTool.of(
                        "charge_card",
                        "Charges the card",
                        Charge.class,
                        (args, context) -> bank.charge(context.idempotencyKey(), args.cents()))
                .verify((args, context) -> bank.find(context.idempotencyKey()))
                .honoursKey();
    }

    @Override
    protected Json args() {
        return Json.of(Map.of("cents", 500));
    }

    @Override
    protected long effects() {
        return bank.charges.get();
    }
}
