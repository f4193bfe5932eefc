package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * People deny, edit, widen and revoke decisions, and let them expire, while the worker and the server are killed at
 * random moments. For every refund that happened, the history up to its claim must contain the permission.
 */
@Tag("server")
@Tag("full")
@Timeout(720)
class KilledDecisionsServerTest {
    /** {@code -Dkills.times=3} makes the test that much longer. */
    private static final int TIMES = Integer.getInteger("kills.times", 1);

    private static final int THREADS = 4 * TIMES;
    private static final Duration MOST = Duration.ofMinutes(8);
    private static final Json UP_TO_5000 = Json.of(Map.of("properties", Map.of("cents", Map.of("maximum", 5_000))));

    private final Random random = new Random(26);

    /** How the person decides who is responsible for a thread. */
    private enum Way {
        /** Approves a call, and two more that match a schema. Denies the rest. */
        WIDEN,
        /** Approves a call and all later ones with the same arguments, and revokes that soon after. */
        REVOKE,
        /** Approves calls with other arguments, which the rules then deny or allow. */
        EDIT,
        /** Approves later calls for three seconds, and does not decide about others in time. */
        EXPIRE
    }

    private static Way wayOf(int thread) {
        return Way.values()[thread % Way.values().length];
    }

    private static String name(int thread) {
        return "refunds-" + thread;
    }

    private Optional<PersonFact.ApprovalDecided> decision(Way way, PendingItem item) {
        boolean first = item.callId().equals("tu_1");
        PersonFact.ApprovalDecided about = switch (way) {
            case WIDEN ->
                first
                        ? Approval.approve()
                                .granting(GrantTerms.THREAD.withTimes(2).like(UP_TO_5000))
                        : Approval.deny("enough");
            case REVOKE -> first ? Approval.approve().granting(GrantTerms.THREAD) : Approval.deny("enough");
            case EDIT ->
                first
                        ? Approval.edit(Map.of("cents", 9_500))
                        : item.callId().equals("tu_4") ? Approval.edit(Map.of("cents", 1_500)) : Approval.deny("no");
            case EXPIRE -> Approval.approve().granting(GrantTerms.THREAD.lasting(Duration.ofSeconds(3)));
        };
        return way == Way.EXPIRE && !first
                ? Optional.empty()
                : Optional.of(about.withCall(item.callId())
                        .withDigest(item.argsDigest().orElseThrow())
                        .withBy("ann"));
    }

    /** Decides the pending requests of a thread. Returns whether the thread has finished. */
    private boolean attend(AgentClient client, int thread, Set<Integer> revoked) {
        Timeline timeline = client.timeline(name(thread));
        Conversation state = timeline.now();
        Way way = wayOf(thread);
        if (way == Way.REVOKE && !revoked.contains(thread) && state.grants().last() > 0 && random.nextInt(3) == 0) {
            client.send(
                    name(thread),
                    OutboundMessage.of(PersonFact.GrantRevoked.of(1).withBy("ben")));
            revoked.add(thread);
        }
        for (PendingItem item : timeline.pending()) {
            decision(way, item).ifPresent(decided -> client.send(name(thread), OutboundMessage.of(decided)));
        }
        return !state.turn().isRunning() && state.turn().number() > 0;
    }

    @Test
    void decisions_workersAndServerKilled_everyRefundWasAuthorized(@TempDir Path directory) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path agents = Files.createDirectories(directory.resolve("agents"));
        new Agents(agents).refunder();
        Path log = directory.resolve("worker.log");
        int workersKilled = 0;
        int serversKilled = 0;
        try (KillableServer server = KillableServer.start(
                        binary.get(),
                        port -> DevServer.temporal(
                                binary.get(), Optional.of(directory.resolve("temporal.db")), port, 0));
                AgentClient client = AgentClient.connect(server.address()).withTimeout(Duration.ofSeconds(5))) {
            CliWorkerProcess worker = CliWorkerProcess.start(server.address(), agents, Map.of(), log);
            try {
                for (int i = 0; i < THREADS; i++) {
                    client.start(Prompt.of("refunder", "Refund").withThread(name(i)));
                }
                Set<Integer> open = new HashSet<>();
                for (int i = 0; i < THREADS; i++) {
                    open.add(i);
                }
                Set<Integer> revoked = new HashSet<>();
                Instant end = Instant.now().plus(MOST);
                while (!open.isEmpty() && Instant.now().isBefore(end)) {
                    Instant kill = Instant.now().plusMillis(500 + random.nextInt(6_000));
                    while (Instant.now().isBefore(kill)) {
                        for (int thread : List.copyOf(open)) {
                            try {
                                if (attend(client, thread, revoked)) {
                                    open.remove(thread);
                                }
                            } catch (RuntimeException e) {
                                // It was decided before, or is without a worker for now: it is looked at again.
                            }
                        }
                    }
                    if (serversKilled < TIMES) {
                        server.kill();
                        server.restart();
                        serversKilled++;
                    }
                    if (workersKilled < 3 * TIMES) {
                        worker.kill();
                        worker = CliWorkerProcess.start(server.address(), agents, Map.of(), log);
                        workersKilled++;
                    }
                }
                assertThat(open).as("threads that never came to rest").isEmpty();
                check(client, Files.readAllLines(agents.resolve("refunds.ledger")));
            } finally {
                worker.kill();
            }
        }
        assertThat(workersKilled).isPositive();
        assertThat(serversKilled).isPositive();
    }

    private static void check(AgentClient client, List<String> refunds) {
        Map<String, Timeline> threads = new HashMap<>();
        Map<String, Integer> usesByGrant = new HashMap<>();
        List<String> done = new ArrayList<>();
        for (String line : refunds) {
            String[] words = line.split(" ", 3);
            Timeline timeline = threads.computeIfAbsent(words[0], client::timeline);
            done.add(words[0] + " " + words[1]);
            Moment claimed = timeline.moments().stream()
                    .filter(moment -> moment.fact().orElse(null) instanceof ToolFact.ToolClaimed claim
                            && claim.callId().equals(words[1])
                            && moment.state().granted(claim).isPresent())
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("a refund without a recorded claim: " + line));
            Call call = claimed.state().calls().get(words[1]).orElseThrow();
            CallVerdict verdict = call.verdict().orElseThrow(() -> new AssertionError("no verdict: " + line));
            assertThat(verdict.then()).as(line).isNotEqualTo(CallVerdict.Then.DENY);
            assertThat(Json.of(Map.of("cents", call.args().field("cents"))).canonical())
                    .as(line)
                    .isEqualTo(call.args().canonical());
            if (verdict.then() == CallVerdict.Then.ASK && !call.isApprovedHere()) {
                Grant grant = claimed.state()
                        .grants()
                        .find(call.grant().orElseThrow())
                        .orElseThrow();
                assertThat(grant.isInForce(claimed.at()))
                        .as("%s under %s", line, grant)
                        .isTrue();
                int uses = usesByGrant.merge(words[0] + " " + grant.number(), 1, Integer::sum);
                assertThat(uses)
                        .as("%s under %s", line, grant)
                        .isLessThanOrEqualTo(grant.terms().times().orElse(Integer.MAX_VALUE));
            }
        }
        assertThat(done).doesNotHaveDuplicates();
        assertThat(usesByGrant).as("refunds that a grant let run").isNotEmpty();
        threads.values()
                .forEach(timeline -> assertThat(
                                timeline.now().calls().get("tu_2").orElseThrow().status())
                        .isEqualTo(Call.Status.DENIED));
    }
}
