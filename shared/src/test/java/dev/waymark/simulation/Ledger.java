package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.Announcements;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks the invariants after every fact. Keeps its own records of the accepted messages and of the outcomes of calls,
 * and compares the state with them.
 */
final class Ledger {
    /** The prefix of every message that a person sends in a simulation. No other text starts with it. */
    static final String MESSAGE = "msg-";

    private final Coverage coverage;
    private final AgentPolicy policy;
    private final World world;
    private final FileStart file;
    private final List<String> accepted = new ArrayList<>();
    private final Map<String, String> outcomes = new HashMap<>();
    private final Map<String, String> approved = new HashMap<>();
    private final Map<Integer, Granted> grants = new HashMap<>();
    private static final Pattern LEFT_OUT = Pattern.compile(
            "\n\\[characters (\\d+) to (\\d+) of (\\d+) are left out: read_result \\{\"call\": (\".*\"), \"from\": \\1}]\n");
    private static final Pattern HIT = Pattern.compile("\n\\[(\\d+)] ");

    private int lastGrant;
    /** The definitions of tools that were shown when somebody approved a call, by call. */
    private final Map<String, Set<String>> definitions = new HashMap<>();

    private final Map<String, CallVerdict.Then> verdicts = new HashMap<>();
    private final Map<String, Integer> repeats = new HashMap<>();
    private final Map<String, Integer> knownOutcomes = new HashMap<>();
    private final Map<String, Long> tokens = new HashMap<>();
    private final Set<String> wasDoubted = new HashSet<>();

    private final Set<String> dropped = new HashSet<>();
    private int facts = 1;
    private Spent spent = Spent.NOTHING;
    private final Map<String, Spent> below = new HashMap<>();
    private Optional<Long> mostTokens;

    private final WordLedger words;

    Ledger(Coverage coverage, AgentPolicy policy, World world, FileStart file, Optional<Parent> parent) {
        this.words = new WordLedger(coverage, policy, parent, file != FileStart.NONE);
        this.coverage = coverage;
        this.policy = policy;
        this.world = world;
        this.file = file;
        this.mostTokens = policy.budget().flatMap(Budget::tokens);
        // In a file, a call that asks a question counts as executed.
        file.restored()
                .flatMap(Conversation::effects)
                .ifPresent(effects -> effects.known()
                        .forEach((key, effect) -> knownOutcomes.put(key.replace(':', ' '), effect.executions())));
    }

    private AgentPolicy.ToolPolicy policyOf(String tool) {
        return policy.policyOf(tool);
    }

    /** Identifies a side effect. Call ids cannot, because models give identical calls new ids. */
    static String key(Call call) {
        return call.tool() + " " + call.argsDigest();
    }

    void check(Conversation before, Fact fact, Conversation after) {
        Optional<Problem> refusal = refusal(before, fact, after);
        book(before, fact, after);
        counters(before, after);
        if (refusal.isPresent() || fact instanceof ThreadFact.MessageIgnored) {
            ignored(before, after);
            refusal.ifPresent(problem -> coverage.count("refused " + fact.type() + " " + problem.type()));
        } else {
            Violation.unless(after.ignored().equals(before.ignored()), "an accepted " + fact.type() + " was ignored");
            if (fact instanceof Fact.Inbound inbound) {
                accepted(before, inbound, after);
            }
        }
        if (isStale(before, fact)) {
            coverage.count("stale " + fact.type());
            boolean late =
                    fact instanceof ToolFact.ToolFinished done && isCancelled(before, done.callId(), done.dispatch());
            boolean spentUp = before.turn().isRunning() && after.turn().status() == Turn.Status.BUDGET;
            if (!spentUp) { // A late reply costs money too, and may have used up the budget.
                unchanged(before, after, "a stale " + fact.type());
            }
            Violation.unless(
                    late || after.calls().equals(before.calls()), "a stale " + fact.type() + " changed a call");
        }
        if (fact instanceof ModelFact.ModelCalled || fact instanceof ModelFact.SummaryRequested) {
            committed(before, after);
        }
        if (fact instanceof ModelFact.Summarised && !isStale(before, fact)) {
            summarised(before, after);
        }
        if (before.turn().repaired() && !after.turn().isRunning()) {
            coverage.count("repairs that ended " + after.turn().status().wireName());
        }
        if (fact instanceof ModelFact.ModelReplied && !isStale(before, fact)) {
            issued(before, after);
            reads(before, after);
        }
        wholeResults(before, after);
        messages(after);
        promptOnlyGrows(before, after);
        state(before, after);
        after.batchCalls().forEach(call -> call(before, fact, call));
        CallLife.count(coverage, before, fact, after);
        calls(after);
        decisions(after);
        words.check(after);
    }

    // ---- records

    private static Optional<Problem> refusal(Conversation before, Fact fact, Conversation after) {
        return fact instanceof Fact.Inbound inbound
                ? Rules.refusal(before, inbound, after.updatedAt())
                : Optional.empty();
    }

    /** Records what happened, without checking it. */
    void book(Conversation before, Fact fact, Conversation after) {
        facts++;
        if (refusal(before, fact, after).isPresent()) {
            return;
        }
        words.book(before, fact, after);
        outcome(before, fact, after);
        verdicts(before, fact, after);
        if (fact instanceof ModelFact.ModelReplied replied) {
            pay(replied.reply());
        } else if (fact instanceof ModelFact.Summarised summarised) {
            pay(summarised.reply());
            if (!isStale(before, fact)) {
                accepted.subList(0, summarizedMessages(before, after)).clear();
                before.calls().forEach((id, call) -> {
                    if (!after.calls().contains(id)) {
                        dropped.add(id);
                    }
                });
            }
        } else if (fact instanceof ModelFact.SummaryFailed failed) {
            spent = spent.plus(failed.spent());
        } else if (fact instanceof ModelFact.ModelFailed failed) {
            spent = spent.plus(failed.spent());
        } else if (fact instanceof SubagentFact.SubagentReported reported) {
            below(after, reported.callId(), reported.report().spent());
        } else if (fact instanceof SubagentFact.SubagentFinished finished) {
            finished.spent().ifPresent(total -> below(after, finished.callId(), total));
        } else if (fact instanceof PersonFact.BudgetRaised raised
                && before.policy().isPresent()
                && mostTokens.isPresent()) {
            mostTokens = raised.budget().tokens().or(() -> mostTokens);
        }
        if (fact instanceof PersonFact.UserSpoke spoke) {
            if (spoke.replacement().isPresent()) {
                accepted.clear();
                grants.clear();
            }
            spoke.content().ifPresent(content -> accepted.add(content.text()));
        } else if (fact instanceof PersonFact.Cleared) {
            accepted.clear();
            grants.clear();
        } else if (fact instanceof PersonFact.GrantRevoked revoked) {
            revoke(Optional.of(revoked.grant()));
        } else if (fact instanceof ToolFact.ToolNotStarted changed
                && changed.definition().isPresent()
                && isAwaited(before, changed.callId(), changed.dispatch())) {
            voided(before, changed.callId());
        } else if (fact instanceof ToolFact.ToolEndedLate late
                && late.end() instanceof ToolFact.ToolNotStarted changed
                && changed.definition().isPresent()) {
            voided(before, changed.callId());
        } else if (fact instanceof ToolFact.ToolFinished done && isAwaited(before, done.callId(), done.dispatch())) {
            outcomes.put(done.callId(), done.content());
        } else if (fact instanceof ToolFact.ToolEndedLate late
                && late.end() instanceof ToolFact.ToolFinished done
                && after.calls()
                        .get(done.callId())
                        .filter(call -> call.status() == Call.Status.COMPLETED || call.status() == Call.Status.FAILED)
                        .isPresent()) {
            outcomes.put(done.callId(), done.content());
        } else if (fact instanceof PersonFact.HumanAnswered answered) {
            PendingItem question = asked(before, PendingItem.Kind.QUESTION, answered.callId());
            if (question.form().isEmpty()) {
                outcomes.put(question.callId(), answered.answer());
            }
        } else if (fact instanceof PersonFact.ApprovalDecided decided && decided.approved()) {
            PendingItem ask = asked(before, PendingItem.Kind.APPROVAL, decided.callId());
            Json shown = ask.args().orElseThrow();
            Json args = decided.args().orElse(shown);
            approved.put(ask.callId(), args.canonical());
            ask.toolDigest()
                    .ifPresent(digest -> definitions
                            .computeIfAbsent(ask.callId(), id -> new HashSet<>())
                            .add(digest));
            boolean own = before.calls().get(ask.callId()).isPresent();
            if (own && decided.grant().isPresent()) {
                lastGrant++;
                grants.put(
                        lastGrant,
                        new Granted(ask.tool(), args, decided.grant().get(), after.updatedAt(), ask.toolDigest()));
            }
            coverage.count(args.equals(shown) ? "approved as they were" : "approved with other arguments");
        }
    }

    /** A grant as it was given, with its uses and its revocation. */
    private static final class Granted {
        private final String tool;
        private final Json args;
        private final GrantTerms terms;
        private final Instant at;
        private final Optional<String> definition;
        private final Set<String> users = new HashSet<>();
        private boolean revoked;

        Granted(String tool, Json args, GrantTerms terms, Instant at, Optional<String> definition) {
            this.tool = tool;
            this.args = args;
            this.terms = terms;
            this.at = at;
            this.definition = definition;
        }

        boolean isFor(Call call) {
            return tool.equals(call.tool())
                    && terms.like().map(like -> isLike(like, call.args())).orElse(args.equals(call.args()));
        }

        boolean isOver(Instant now) {
            return revoked
                    || terms.seconds()
                            .filter(length -> !now.isBefore(at.plusSeconds(length)))
                            .isPresent();
        }
    }

    /** Whether the arguments match the schema of a simulated grant. */
    static boolean isLike(Json schema, Json args) {
        return Json.of(args.canonical().chars().sum() % 2).equals(Json.of(schema.field("parity")));
    }

    private void revoke(Optional<Integer> number) {
        number.map(grants::get).ifPresent(grant -> grant.revoked = true);
    }

    /** Records that a decision no longer applies, because the tool changed before the call ran. */
    private void voided(Conversation before, String callId) {
        approved.remove(callId);
        revoke(before.calls().get(callId).flatMap(Call::grant));
    }

    /**
     * Whether the call runs by a grant. Checks that the grant is for this call, is not revoked, and is not used too
     * often.
     */
    private boolean isGranted(Call call) {
        if (call.grant().isEmpty()) {
            return false;
        }
        Granted grant = grants.get(call.grant().get());
        Violation.unless(grant != null, "a call runs because of a grant that nobody gave");
        Violation.unless(grant.isFor(call), "a call runs because of a grant for others");
        Violation.unless(!grant.revoked, "a call runs after its grant was revoked");
        Violation.unless(!file.has(call.id()), "a call of a file runs because of a grant");
        grant.users.add(call.id());
        Violation.unless(
                grant.terms.times().map(most -> grant.users.size() <= most).orElse(true),
                "a grant is used once too often");
        coverage.count("ran because of a grant");
        return true;
    }

    /** Checks a call that has just been granted a claim. */
    void claimedInTime(Call call, Instant at) {
        call.grant()
                .map(grants::get)
                .ifPresent(grant -> Violation.unless(!grant.isOver(at), "a call starts after its grant is over"));
    }

    /** Checks the definitions with which a call is about to be dispatched. */
    void approvedDefinitions(Call call, List<String> allowed) {
        if (!policyOf(call.tool()).changeable() || !policyOf(call.tool()).approval()) {
            return;
        }
        Set<String> shown = call.grant().isPresent()
                ? grants.get(call.grant().get()).definition.map(Set::of).orElse(Set.of())
                : definitions.getOrDefault(call.id(), Set.of());
        Violation.unless(shown.containsAll(allowed), "a call runs with a definition that nobody was shown");
        Violation.unless(
                !allowed.isEmpty() || call.isJudged(CallVerdict.Then.ALLOW), "it is not known what was approved");
        coverage.count("definitions approved");
    }

    /**
     * Records the total cost that a subagent's thread reports. A report that is older than the recorded one, or that a
     * reset repeats, changes nothing.
     */
    private void below(Conversation state, String callId, Spent total) {
        boolean known = state.calls().get(callId).flatMap(Call::subagent).isPresent();
        Spent before = below.getOrDefault(callId, Spent.NOTHING);
        if (known && total.usage().outputTokens() > before.usage().outputTokens()) {
            below.put(callId, total);
        }
    }

    private Spent all() {
        Spent all = spent;
        for (Spent each : below.values()) {
            all = all.plus(each);
        }
        return all;
    }

    private static PendingItem asked(Conversation state, PendingItem.Kind kind, Optional<String> callId) {
        return state.asks().stream()
                .filter(ask -> ask.kind() == kind)
                .filter(ask -> callId.map(ask.callId()::equals).orElse(true))
                .findFirst()
                .orElseThrow();
    }

    private static long questions(Conversation state) {
        return state.asks().stream()
                .filter(ask -> ask.kind() == PendingItem.Kind.QUESTION)
                .count();
    }

    /** Records that the outcome of a call is known now. The next identical call must then have another key. */
    private void outcome(Conversation before, Fact fact, Conversation after) {
        Optional<String> callId = Optional.empty();
        if (fact instanceof ToolFact.ToolEndedLate late) {
            if (late.end() instanceof ToolFact.ToolNotStarted
                    && before.calls().get(late.callId()).orElseThrow().dispatches() == 0) {
                repeats.remove(late.callId()); // No execution has used this key.
            }
            boolean counts = late.end() instanceof ToolFact.ToolFinished done
                    ? uses(done)
                    : late.end() instanceof ToolFact.ToolInterrupted
                            && before.calls().get(late.callId()).orElseThrow().isOpen();
            callId = Optional.of(late.callId()).filter(id -> counts);
        } else if (fact instanceof ToolFact.ToolFinished done) {
            callId = Optional.of(done.callId())
                    .filter(id -> isAwaited(before, id, done.dispatch()) || isCancelled(before, id, done.dispatch()))
                    .filter(id -> uses(done));
        } else if (fact instanceof ToolFact.ToolInterrupted asks && isAwaited(before, asks.callId(), asks.dispatch())) {
            callId = Optional.of(asks.callId());
        } else if (fact instanceof ToolFact.ToolVerified verified
                && verified.landed().orElse(false)) {
            callId = before.calls()
                    .get(verified.callId())
                    .filter(call -> call.status() == Call.Status.VERIFYING)
                    .map(Call::id);
        } else if (fact instanceof PersonFact.OutcomeSettled settled
                && settled.settlement() == CallSettlement.Outcome.DONE) {
            callId = Optional.of(settled.callId());
        }
        callId.flatMap(before.calls()::get)
                .filter(call -> call.claim().isPresent())
                .ifPresent(call -> knownOutcomes.merge(key(call), 1, Integer::sum));
        after.batchCalls().stream()
                .filter(call -> call.status() == Call.Status.UNKNOWN
                        || call.status() == Call.Status.DOUBTED
                        || call.status() == Call.Status.UNSETTLED)
                .forEach(call -> wasDoubted.add(call.id()));
        // A call may also take over the claim of an identical one that a reset undid, and with it its key.
        after.batchCalls().stream()
                .filter(call -> call.claim().isPresent()
                        && !before.calls().get(call.id()).flatMap(Call::claim).equals(call.claim()))
                .forEach(call -> repeats.put(call.id(), call.repeat()));
        if (fact instanceof ToolFact.ToolClaimed claim && claim.restored()) {
            claim.grant().map(grants::get).ifPresent(grant -> grant.users.add(claim.callId()));
            Optional<Call> ended = before.calls().get(claim.callId()).filter(call -> !call.isOpen());
            Optional<Call> later = after.calls().get(claim.callId());
            if (ended.isPresent() && !later.equals(ended)) {
                // The model has not seen the outcome yet. Now it is another one, or has a note about this claim.
                outcomes.remove(claim.callId());
            }
        }
        if (fact instanceof ToolFact.ToolDispatched dispatched) {
            Optional<Call> call = after.calls().get(dispatched.callId());
            Violation.unless(call.isPresent(), "a call is dispatched that nobody made");
            repeats.putIfAbsent(dispatched.callId(), call.get().repeat());
        }
    }

    /**
     * Whether the result uses up the call's key. An error does so only if it states that the call was not done:
     * otherwise, it proves nothing about the effect.
     */
    private static boolean uses(ToolFact.ToolFinished done) {
        return !done.isError() || done.notDone();
    }

    private static boolean isCancelled(Conversation state, String callId, int dispatch) {
        return state.calls()
                .get(callId)
                .filter(call -> call.status() == Call.Status.CANCELLED && call.dispatches() == dispatch)
                .isPresent();
    }

    // ---- tools

    /** Checks that somebody in this thread has decided that a call of a file may go on, if that is needed. */
    void allowed(Call call, boolean effect) {
        if (!file.has(call.id())) {
            return;
        }
        boolean needed = file.allowed() == FileCalls.WAIT || effect;
        Violation.unless(
                !needed || call.args().canonical().equals(approved.get(call.id())),
                "a call of a file goes on that nobody has decided");
        coverage.count(needed ? "decided calls of files" : "safe calls of files");
    }

    /** Records verdicts about the current arguments of calls. */
    private void verdicts(Conversation before, Fact fact, Conversation after) {
        if (fact instanceof ModelFact.ModelReplied replied && !isStale(before, fact)) {
            replied.reply().verdicts().forEach(each -> {
                if (each.call() < after.batch().size()) {
                    judged(after, after.batch().get(each.call()), each.verdict().then());
                }
            });
        } else if (fact instanceof ToolFact.VerdictGiven given && before.awaitsVerdict(given.callId())) {
            judged(before, given.callId(), given.verdict().then());
        } else if (fact instanceof ToolFact.VerdictFailed failed
                && before.awaitsVerdict(failed.callId())
                && !failed.problem().type().equals(ProblemType.UNKNOWN_RULES)) {
            judged(before, failed.callId(), CallVerdict.Then.ASK);
        }
    }

    private void judged(Conversation state, String callId, CallVerdict.Then then) {
        Call call = state.calls().get(callId).orElseThrow();
        verdicts.putIfAbsent(callId + " " + call.args().canonical(), then); // The first verdict is kept.
    }

    /** Checks that a call of a tool with rules that is about to run has a verdict about its current arguments. */
    void judgedToRun(Call call) {
        if (!policyOf(call.tool()).ruled()) {
            return;
        }
        CallVerdict.Then then = verdicts.get(call.id() + " " + call.args().canonical());
        Violation.unless(then != null, "a call runs without a verdict about its arguments");
        Violation.unless(then != CallVerdict.Then.DENY, "a call runs that the rules deny");
        Violation.unless(
                then == CallVerdict.Then.ALLOW
                        || call.args().canonical().equals(approved.get(call.id()))
                        || isGranted(call),
                "a call runs that the rules leave to a person who has not decided");
        coverage.count("ran with the verdict " + then.wireName());
    }

    /** Checks a call that is about to be dispatched to a worker. */
    void dispatched(Call call, int dispatch) {
        judgedToRun(call);
        AgentPolicy.ToolPolicy policy = policyOf(call.tool());
        allowed(call, policy.effect());
        Violation.unless(
                this.policy.tools().get(call.tool()) == AgentPolicy.Executor.ACTIVITY,
                "no worker can run " + call.tool());
        Violation.unless(
                !policy.approval()
                        || policy.ruled()
                        || call.args().canonical().equals(approved.get(call.id()))
                        || isGranted(call),
                "what runs is not what was approved");
        if (!policy.effect()) {
            return;
        }
        if (dispatch > 1) {
            coverage.count("calls dispatched again");
        }
        Violation.unless(
                repeats.getOrDefault(call.id(), call.repeat()) == call.repeat(), "executions of a call have two keys");
        Violation.unless(
                repeats.containsKey(call.id())
                        || call.claim().isPresent()
                        || wasDoubted.contains(call.id())
                        || call.repeat() == knownOutcomes.getOrDefault(key(call), 0),
                "a call has the key of another");
    }

    /** Checks a call that has just been granted a claim. */
    void granted(Conversation state, Call call) {
        Violation.unless(
                world.alive().stream()
                        .filter(World.Execution::isDangerous)
                        .filter(each -> !isAnsweredForByAnother(state, call, each))
                        .noneMatch(each -> each.callId.equals(call.id()) && each.key.equals(key(call))),
                "a call runs again while it may still be running");
        long token = call.claim().orElseThrow().token();
        Violation.unless(token > tokens.getOrDefault(key(call), 0L), "a claim has no larger token than the one before");
        tokens.put(key(call), token);
        if (wasDoubted.contains(call.id())) {
            coverage.count("reruns");
        }
    }

    /**
     * Whether another call has the claim of this execution. After a reset, the model may use the id of an undone call for
     * different arguments. An identical call then has its claim before a person edits the new one to these arguments.
     */
    private static boolean isAnsweredForByAnother(Conversation state, Call call, World.Execution execution) {
        boolean[] found = {false};
        state.calls()
                .forEach((id, other) -> found[0] |= !id.equals(call.id())
                        && other.claim()
                                .filter(claim -> claim.execution().equals(execution.name))
                                .isPresent());
        return found[0];
    }

    /**
     * Checks a call that is about to be verified.
     *
     * @param isEnded whether its worker was reported as ended, and it was not verified since
     */
    void verifying(Call call, Instant at, boolean isEnded) {
        boolean ranHere = call.claim()
                .filter(claim -> world.wasGranted(claim.execution()))
                .isPresent();
        if (!ranHere) { // A reset may have undone the decision, but not the execution that it allowed.
            allowed(call, false);
        }
        Optional<Instant> claimedAt = call.claim().map(Call.Claim::at);
        boolean early = claimedAt
                .filter(time -> time.plus(World.TIMEOUT).plusSeconds(5).isAfter(at))
                .isPresent();
        Violation.unless(
                claimedAt.isPresent() || file.has(call.id()), "it is looked for the effect of a call that never ran");
        Violation.unless(!early || isEnded, "it is looked for an effect too early");
        coverage.count(early ? "verifies before the fence" : "verifies");
    }

    private void call(Conversation before, Fact fact, Call call) {
        AgentPolicy.ToolPolicy policy = policyOf(call.tool());
        Optional<Call> earlier = before.calls().get(call.id());
        boolean changed = earlier.map(each -> each.status() != call.status()).orElse(true);
        if (!changed) {
            return;
        }
        coverage.count("calls " + CallLife.name(call));
        if (policy.effect()) {
            effect(fact, call, policy);
            if (earlier.isEmpty() && call.claim().isPresent()) {
                coverage.count("remembered claims met again");
            }
        }
        if (call.status() == Call.Status.DENIED) {
            coverage.count(
                    fact instanceof ThreadFact.TimePassed
                            ? "denied by time"
                            : fact instanceof PersonFact.ApprovalDecided ? "denied by somebody" : "denied by nobody");
        }
        if (this.policy.tools().get(call.tool()) == AgentPolicy.Executor.STATE
                && call.status() == Call.Status.COMPLETED
                && !(fact instanceof PersonFact.HumanAnswered)) {
            judgedToRun(call);
        }
        boolean mustBeApproved =
                (policy.approval() && !policy.ruled()) || (file.has(call.id()) && file.allowed() == FileCalls.WAIT);
        if (mustBeApproved && this.policy.tools().get(call.tool()) == AgentPolicy.Executor.STATE) {
            Violation.unless(
                    call.status() != Call.Status.COMPLETED
                            || fact instanceof PersonFact.HumanAnswered
                            || approved.containsKey(call.id())
                            || isGranted(call),
                    "a state tool ran without approval");
        }
    }

    private void effect(Fact fact, Call call, AgentPolicy.ToolPolicy policy) {
        boolean tookEffect =
                call.claim().map(claim -> world.hasEffect(claim.execution())).orElse(false);
        String text = call.result().orElse("");
        switch (call.status()) {
            case COMPLETED -> {
                boolean replayed = text.startsWith("[idempotent replay of ");
                if (replayed) {
                    Violation.unless(policy.dedupe(), "replayed, and never asked to be");
                    coverage.count("replays");
                } else if (!(fact instanceof PersonFact.HumanAnswered)) {
                    Violation.unless(
                            tookEffect || world.hasEffect(key(call), call.repeat()), "completed, and nothing happened");
                }
            }
            case LOST -> {
                boolean known = ranElsewhere(call)
                        || call.claim()
                                .map(claim -> world.wasGranted(claim.execution()))
                                .orElse(policy.dedupe());
                Violation.unless(known, "lost, and nothing was ever claimed");
                Violation.unless(text.contains("tool-durability-error"), "lost, and the model is not told so");
            }
            case UNKNOWN, DOUBTED, UNSETTLED -> {
                Violation.unless(
                        ranElsewhere(call)
                                || call.claim()
                                        .map(claim -> world.wasGranted(claim.execution()))
                                        .orElse(false),
                        "in doubt, and nothing was ever claimed");
            }
            case DENIED, CANCELLED ->
                Violation.unless(
                        !tookEffect || text.isEmpty() || text.contains("had been claimed"),
                        "said not to have run, and it took effect");
            case ISSUED,
                    HELD,
                    AWAITING,
                    DISPATCHED,
                    CLAIMED,
                    REMOTE,
                    FOLLOWING,
                    DELEGATED,
                    VERIFYING,
                    ASKING,
                    FAILED -> {
                // These statuses say nothing about whether the call took effect.
            }
        }
    }

    /** Whether the call may have run before this thread began, according to a file. */
    private boolean ranElsewhere(Call call) {
        return call.claim().map(Call.Claim::isElsewhere).orElse(file.has(call.id()));
    }

    private void calls(Conversation state) {
        List<Call> open = state.openCalls();
        long inFlight = open.stream()
                .filter(call -> call.status() == Call.Status.DISPATCHED || call.status() == Call.Status.CLAIMED)
                .filter(call -> policyOf(call.tool()).effect())
                .count();
        Violation.unless(inFlight <= 5, "too many side effects at a time");
        if (inFlight == 5) {
            coverage.count("five side effects at a time");
        }
        for (Call call : open) {
            Violation.unless(
                    !call.isHeld()
                            || open.stream()
                                    .anyMatch(other ->
                                            !other.isHeld() && key(other).equals(key(call))),
                    "held by nothing");
        }
    }

    private void pay(Reply reply) {
        spent = spent.plus(new Spent(reply.usage(), reply.cost()))
                .plus(reply.wasted().orElse(Spent.NOTHING));
    }

    /** The number of messages from people that a summary has replaced. */
    private static int summarizedMessages(Conversation before, Conversation after) {
        Set<String> kept = new HashSet<>();
        after.transcript().entries().toList().forEach(entry -> kept.add(entry.id()));
        return (int) before.transcript().entries().toList().stream()
                .filter(entry -> isMessage(entry.message()) && !kept.contains(entry.id()))
                .count();
    }

    private static boolean isMessage(Message message) {
        return message.role() == Role.USER && message.text().startsWith(MESSAGE);
    }

    /** Checks that the newest messages are unchanged, no second summary follows, and providers accept the rest. */
    private void summarised(Conversation before, Conversation after) {
        List<Message> was = before.transcript().messages();
        List<Message> is = after.transcript().messages();
        if (is.equals(was)) {
            coverage.count("summaries without words");
        } else {
            coverage.count("summaries");
            int kept = is.size() - 1;
            Violation.unless(
                    is.subList(1, is.size()).equals(was.subList(was.size() - kept, was.size())),
                    "a summary changed what it had to leave");
            int keep = policy.summaries().orElseThrow().keepMessages();
            Violation.unless(kept == keep || kept == keep + 1, "a summary left too much, or too little");
            Pairing.violation(is).ifPresent(violation -> {
                throw new Violation("a summary broke the transcript: " + violation);
            });
        }
        before.calls().forEach((id, call) -> dropped(call, after));
        Violation.unless(
                Rules.nextSteps(after).stream().noneMatch(Step.Summarize.class::isInstance),
                "a summary follows a summary");
    }

    /**
     * Checks that a summary leaves a call unchanged or drops it. It may drop a call only if the call has ended without
     * a side effect or a decision, is no longer in the transcript, and can no longer get a report.
     */
    private void dropped(Call call, Conversation after) {
        if (after.calls().contains(call.id())) {
            Violation.unless(after.calls().get(call.id()).equals(Optional.of(call)), "a summary changed a call");
            return;
        }
        coverage.count("calls dropped by a summary");
        Violation.unless(!policyOf(call.tool()).effect(), "a summary dropped a side effect");
        Violation.unless(
                call.claim().isEmpty()
                        && call.approval().isEmpty()
                        && call.question().isEmpty(),
                "a summary dropped a claim, a decision or a question");
        Violation.unless(call.subagent().isEmpty(), "a summary dropped a subagent");
        Violation.unless(
                !call.isOpen() && call.status() != Call.Status.CANCELLED && call.status() != Call.Status.LOST,
                "a summary dropped a call that may still report");
        Violation.unless(
                after.transcript().messages().stream()
                        .flatMap(message -> message.toolUses().stream())
                        .noneMatch(use -> use.id().equals(call.id())),
                "a summary dropped a call that is in the transcript");
    }

    private static boolean isAwaited(Conversation state, String callId, int dispatch) {
        return state.batchCalls().stream()
                .anyMatch(call -> call.id().equals(callId)
                        && (call.status() == Call.Status.DISPATCHED
                                || call.status() == Call.Status.CLAIMED
                                || call.status() == Call.Status.FOLLOWING)
                        && call.dispatches() == dispatch);
    }

    private static boolean isStale(Conversation before, Fact fact) {
        if (fact instanceof ModelFact.ModelReplied replied) {
            return !isAwaited(before, replied.step());
        }
        if (fact instanceof ModelFact.ModelFailed failed) {
            return !isAwaited(before, failed.step());
        }
        if (fact instanceof ModelFact.Summarised summarised) {
            return !isAwaited(before, summarised.step());
        }
        if (fact instanceof ModelFact.SummaryFailed failed) {
            return !isAwaited(before, failed.step());
        }
        if (fact instanceof ToolFact.ToolFinished done) {
            return !isAwaited(before, done.callId(), done.dispatch());
        }
        if (fact instanceof ToolFact.ToolInterrupted asks) {
            return !isAwaited(before, asks.callId(), asks.dispatch());
        }
        return fact instanceof ToolFact.ToolLost lost && !isAwaited(before, lost.callId(), lost.dispatch());
    }

    private static boolean isAwaited(Conversation state, int step) {
        return state.turn().isRunning()
                && state.modelCalled()
                && state.counters().steps() == step;
    }

    // ---- invariants

    private void counters(Conversation before, Conversation after) {
        Violation.unless(after.counters().facts() == facts, "facts are miscounted");
        Violation.unless(
                after.counters().steps() >= before.counters().steps()
                        && after.counters().versions() >= before.counters().versions()
                        && after.counters().messages() >= before.counters().messages()
                        && after.turn().number() >= before.turn().number()
                        && after.usage().inputTokens() >= before.usage().inputTokens(),
                "a counter went back");
        boolean ended = before.turn().isRunning()
                && (!after.turn().isRunning()
                        || after.turn().number() > before.turn().number());
        boolean interrupted = after.isInterrupted() && !before.isInterrupted();
        if (ended || interrupted) {
            Violation.unless(
                    after.counters().versions() == before.counters().versions() + 1,
                    "no version at a turn's end or pause");
        }
    }

    private static void ignored(Conversation before, Conversation after) {
        Violation.unless(
                after.ignored().count() == before.ignored().count() + 1, "a refused message does not show as ignored");
        unchanged(before, after, "a refused message");
        Violation.unless(after.calls().equals(before.calls()), "a refused message changed a call");
    }

    /**
     * Checks that the transcript extends the one before, or that the state records where the prompt begins anew, after
     * all replies of the earlier conversation.
     */
    private static void promptOnlyGrows(Conversation before, Conversation after) {
        List<Transcript.Entry> old = before.transcript().entries().toList();
        List<Transcript.Entry> now = after.transcript().entries().toList();
        int common = 0;
        while (common < old.size() && common < now.size() && old.get(common).equals(now.get(common))) {
            common++;
        }
        if (common < old.size()) {
            for (int i = Math.max(common, after.boundFrom()); i < now.size(); i++) {
                Violation.unless(
                        now.get(i).message().role() != Role.ASSISTANT || !old.contains(now.get(i)),
                        "a reply is sent behind another prompt than the one it was made for");
            }
        }
        Violation.unless(after.boundFrom() <= now.size(), "the prompt begins behind its end");
    }

    private static void unchanged(Conversation before, Conversation after, String what) {
        Violation.unless(
                after.transcript().equals(before.transcript())
                        && after.queue().equals(before.queue())
                        && after.turn().equals(before.turn())
                        && after.batch().equals(before.batch())
                        && after.life() == before.life()
                        && after.modelCalled() == before.modelCalled()
                        && after.seen().equals(before.seen())
                        && after.money().maxIterations().equals(before.money().maxIterations())
                        && after.full() == before.full(),
                what + " changed something");
    }

    private void accepted(Conversation before, Fact.Inbound fact, Conversation after) {
        coverage.count("accepted " + fact.type());
        boolean restored = fact instanceof ToolFact.ToolClaimed claim && claim.restored();
        Violation.unless(
                restored
                        || fact instanceof SubagentFact.SubagentReported
                        || before.life() != ThreadIdentity.Life.CANCELLED,
                "something was accepted after a cancel");
        if (fact instanceof PersonFact.UserSpoke spoke) {
            spoke(before, spoke, after);
        } else if (fact instanceof PersonFact.HumanAnswered answered) {
            boolean isNextForm = asked(before, PendingItem.Kind.QUESTION, answered.callId())
                            .form()
                            .isPresent()
                    && questions(after) == questions(before);
            Violation.unless(
                    isNextForm || questions(after) == questions(before) - 1, "an accepted answer answered nothing");
            coverage.count(questions(before) > 1 ? "answers to one of several" : "answers to the only one");
        } else if (fact instanceof ToolFact.ToolClaimed claim) {
            claimed(before, claim, after);
        } else if (fact instanceof PersonFact.BudgetRaised raised) {
            boolean iterations = raised.iterations()
                    .map(most -> after.iterationLimit().equals(raised.iterations())
                            && before.iterationLimit().orElseThrow() < most)
                    .orElseGet(() -> after.iterationLimit().equals(before.iterationLimit()));
            Violation.unless(
                    iterations
                            && (after.policy().isEmpty()
                                    || after.limits().tokens().equals(mostTokens)),
                    "an accepted raise did not raise");
            if (after.turn().isRunning() && !before.turn().isRunning()) {
                coverage.count("turns continued by a raise");
            }
        } else if (fact instanceof PersonFact.Stopped) {
            Violation.unless(after.turn().status() == Turn.Status.STOPPED, "a stop stopped nothing");
            Violation.unless(after.queue().equals(before.queue()), "a stop touched the queue");
        } else if (fact instanceof PersonFact.Cleared) {
            Violation.unless(
                    after.transcript().isEmpty()
                            && after.queue().isEmpty()
                            && !after.full()
                            && !after.turn().isRunning(),
                    "a clear left something");
        } else if (fact instanceof PersonFact.CloseRequested) {
            Violation.unless(after.life() == ThreadIdentity.Life.CLOSING, "a close was forgotten");
        }
    }

    private void claimed(Conversation before, ToolFact.ToolClaimed claim, Conversation after) {
        if (!claim.restored()) {
            Violation.unless(
                    after.calls().get(claim.callId()).orElseThrow().status() == Call.Status.CLAIMED,
                    "a claim was granted and is not held");
            return;
        }
        Optional<Call> call = before.batchCalls().stream()
                .filter(each -> each.id().equals(claim.callId()))
                .findFirst();
        coverage.count("claims restored to "
                + call.map(each -> each.status().name().toLowerCase(Locale.ROOT))
                        .orElse("nothing"));
    }

    private void spoke(Conversation before, PersonFact.UserSpoke spoke, Conversation after) {
        boolean clearing = spoke.replacement().filter(List::isEmpty).isPresent()
                && spoke.content().isEmpty();
        boolean spentUp = after.turn().status() == Turn.Status.BUDGET;
        Violation.unless(after.turn().isRunning() != clearing || spentUp, "after an accepted message no turn runs");
        boolean says = spoke.content().isPresent() || spoke.replacement().isPresent();
        Violation.unless(says || !before.turn().isRunning(), "an accepted message said nothing to a running turn");
        before.calls().forEach((id, call) -> {
            Call later = after.calls().get(id).orElseThrow();
            Violation.unless(
                    call.isOpen() || (later.status() == call.status() && later.dispatches() == call.dispatches()),
                    "what is known of a call was overwritten");
        });
        spoke.id().ifPresent(id -> Violation.unless(after.seen().contains(id), "a message's id was not remembered"));
        if (spoke.retry()) {
            coverage.count("retries");
        }
        if (spoke.replacement().isPresent()) {
            coverage.count(clearing ? "clears by an empty list" : "replacements");
        } else if (spoke.content().isPresent() && before.turn().isRunning()) {
            coverage.count("messages during a turn");
            Violation.unless(after.turn().equals(before.turn()), "a message disturbed the turn");
        }
    }

    private void committed(Conversation before, Conversation after) {
        List<Message> messages = after.transcript().messages();
        Violation.unless(!messages.isEmpty(), "a model is asked about nothing");
        Pairing.violation(messages).ifPresent(violation -> {
            throw new Violation("providers would refuse the transcript: " + violation);
        });
        Violation.unless(after.queue().isEmpty() && after.batch().isEmpty(), "a commit left something behind");
        List<Message> added = messages.subList(before.transcript().count(), messages.size());
        List<Part.ToolResult> results =
                added.isEmpty() ? List.of() : added.get(0).toolResults();
        Violation.unless(
                results.stream().map(Part.ToolResult::toolUseId).toList().equals(before.batch()),
                "results are not in the order of the calls");
        for (Part.ToolResult result : results) {
            String outcome = outcomes.get(result.toolUseId());
            Violation.unless(
                    outcome == null || outcome.equals(result.content()) || isCut(outcome, result),
                    "a result was lost or changed");
            coverage.count(outcome == null ? "results that the rules gave" : "results that arrived");
        }
        if (added.size() > 2) {
            coverage.count("several messages at once");
        }
        if (after.transcript().count() > 40) {
            coverage.count("long transcripts");
        }
    }

    /** Whether the model was shown the beginning and the end of a result that is too long, and nothing else. */
    private boolean isCut(String whole, Part.ToolResult told) {
        int most = policy.results().map(ResultRule::showBytes).orElse(Integer.MAX_VALUE);
        Matcher note = LEFT_OUT.matcher(told.content());
        if (bytes(whole) <= most || bytes(told.content()) > most || !note.find()) {
            return false;
        }
        int from = Integer.parseInt(note.group(1));
        int to = Integer.parseInt(note.group(2));
        int length = whole.codePointCount(0, whole.length());
        coverage.count("results that were cut");
        return note.group(3).equals(String.valueOf(length))
                && note.group(4).equals(Json.canonical(told.toolUseId()))
                && told.content().substring(0, note.start()).equals(points(whole, 0, from))
                && told.content().substring(note.end()).equals(points(whole, to, length));
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static String points(String text, int from, int to) {
        return text.substring(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, to));
    }

    /** Checks which whole results the thread keeps: those that arrived last, and not too many. */
    private void wholeResults(Conversation before, Conversation after) {
        List<LongResult> was = before.callBook().longResults();
        List<LongResult> is = after.callBook().longResults();
        if (was.equals(is)) {
            return;
        }
        Violation.unless(policy.results().isPresent(), "whole results are kept beside whole ones");
        Violation.unless(
                is.stream().map(LongResult::callId).distinct().count() == is.size(), "two results have one handle");
        Violation.unless(is.stream().allMatch(result -> result.bytes() == bytes(result.text())), "a size is wrong");
        Violation.unless(
                is.stream()
                        .allMatch(
                                result -> result.text().equals(outcomes.getOrDefault(result.callId(), result.text()))),
                "a whole result is another one");
        long bytes = is.stream().mapToLong(LongResult::bytes).sum();
        Violation.unless(bytes <= 2 * 1024 * 1024, "too much is kept whole");
        List<LongResult> kept = was.stream().filter(is::contains).toList();
        List<LongResult> gone = was.stream()
                .filter(old -> is.stream().noneMatch(result -> result.callId().equals(old.callId())))
                .toList();
        if (!gone.isEmpty() && !is.isEmpty()) {
            Violation.unless(gone.equals(was.subList(0, gone.size())), "not the oldest results were given up");
            Violation.unless(
                    bytes + gone.get(gone.size() - 1).bytes() > 2 * 1024 * 1024, "a result was given up too early");
            coverage.count("whole results given up");
        }
        Violation.unless(is.subList(0, kept.size()).equals(kept), "whole results are in another order");
    }

    /** Checks what the model reads of long results. */
    private void reads(Conversation before, Conversation after) {
        for (Call call : after.batchCalls()) {
            if (!call.tool().equals(LongResult.READ_TOOL) || before.calls().contains(call.id())) {
                continue;
            }
            Violation.unless(!call.isOpen() && call.dispatches() == 0, "a read waits for something");
            String answer = call.result().orElseThrow();
            Violation.unless(
                    bytes(answer) <= policy.results().orElseThrow().showBytes(), "a read is longer than what is shown");
            Optional<String> whole =
                    before.wholeResult(String.valueOf(call.args().field("call")));
            if (whole.isEmpty()) {
                Violation.unless(call.status() == Call.Status.FAILED, "a read has an answer from nowhere");
                coverage.count("reads: " + answer.replaceAll("\"[^\"]*\"", "…"));
            } else if (call.args().field("search") instanceof String words) {
                hits(whole.get(), words, answer);
            } else if (call.status() == Call.Status.COMPLETED) {
                int from = call.args().field("from") instanceof Long number ? number.intValue() : 0;
                String part = answer.substring(0, answer.lastIndexOf("\n[characters " + from + " to "));
                String expected = points(whole.get(), from, from + part.codePointCount(0, part.length()));
                Violation.unless(!part.isEmpty() && part.equals(expected), "a read returned something else");
                coverage.count("reads of whole results");
            } else {
                coverage.count("reads beyond the end");
            }
        }
    }

    private void hits(String whole, String words, String answer) {
        Matcher hit = HIT.matcher(answer);
        int count = 0;
        while (hit.find()) {
            int at = whole.offsetByCodePoints(0, Integer.parseInt(hit.group(1)));
            Violation.unless(whole.startsWith(words, at), "a hit is none");
            count++;
        }
        int all = whole.split(Pattern.quote(words), -1).length - 1;
        Violation.unless(count == Math.min(all, 20), "hits are missing");
        coverage.count(count == 0 ? "searches without a hit" : "searches");
    }

    private void issued(Conversation before, Conversation after) {
        if (after.batch().size() > before.batch().size() && after.turn().isRunning()) {
            for (Call call : after.batchCalls()) {
                Violation.unless(
                        !before.calls().contains(call.id()) && !dropped.contains(call.id()), "a call id is used twice");
                coverage.count(call.id().contains("~") ? "renamed calls" : "calls with their own id");
            }
        }
    }

    /** Checks that each accepted message is in the transcript or the queue exactly once, in the order of arrival. */
    private void messages(Conversation after) {
        List<String> held = new ArrayList<>();
        for (Transcript.Entry entry : after.transcript().entries().toList()) {
            if (isMessage(entry.message())) {
                held.add(entry.message().text());
            }
        }
        for (Queued queued : after.queue()) {
            held.add(queued.message().text());
        }
        Violation.unless(held.equals(accepted), "accepted messages were lost, doubled or shuffled");
    }

    private void state(Conversation before, Conversation after) {
        Violation.unless(after.turn().isRunning() || after.openCalls().isEmpty(), "calls are open after their turn");
        Violation.unless(!after.modelCalled() || after.turn().isRunning(), "a model is awaited and no turn runs");
        Violation.unless(
                after.iterationLimit().isEmpty()
                        || after.turn().iterations() <= after.iterationLimit().get(),
                "a turn went beyond its limit");
        Violation.unless(
                before.life() != ThreadIdentity.Life.CANCELLED || after.life() == ThreadIdentity.Life.CANCELLED,
                "a cancelled thread came back");
        Violation.unless(
                before.life() != ThreadIdentity.Life.CANCELLED
                        || (after.turn().status() == before.turn().status()
                                && after.turn().number() == before.turn().number()),
                "the outcome changed after a cancel");
        Violation.unless(
                after.turn().status() != Turn.Status.COMPLETE || after.queue().isEmpty(),
                "messages wait although the turn is complete");
        if (after.isInterrupted() && !before.isInterrupted()) {
            coverage.count("interruptions");
            if (after.batch().size() > after.openCalls().size()) {
                coverage.count("interruptions beside finished siblings");
            }
        }
        if (!after.turn().isRunning() && before.turn().isRunning()) {
            coverage.count("turns " + after.turn().status().wireName());
        }
    }

    private void decisions(Conversation state) {
        Violation.unless(state.spent().equals(all()), "what was spent is miscounted");
        List<Step> steps = Rules.nextSteps(state);
        long tokens = all().usage().inputTokens() + all().usage().outputTokens();
        long promised = steps.stream()
                .filter(Step.StartSubagent.class::isInstance)
                .map(step -> ((Step.StartSubagent) step).budget())
                .flatMap(budget -> budget.flatMap(Budget::tokens).stream())
                .mapToLong(Long::longValue)
                .sum();
        Violation.unless(
                mostTokens.filter(most -> promised > Math.max(0, most - tokens)).isEmpty(),
                "more is promised to subagents than there is");
        Violation.unless(
                steps.stream().noneMatch(step -> step instanceof Step.CallModel || step instanceof Step.Summarize)
                        || mostTokens.filter(most -> tokens >= most).isEmpty(),
                "a model is called beyond the budget");
        Violation.unless(
                policy.announce().isEmpty()
                        || state.policy().isEmpty()
                        || state.parent().isPresent()
                        || state.announcements().map(Announcements::waiting).orElse(List.of()).stream()
                                .map(Announcement.Request::callId)
                                .toList()
                                .equals(state.asks().stream()
                                        .map(PendingItem::callId)
                                        .toList()),
                "receivers are told of other requests than wait");
        Violation.unless(Rules.nextSteps(state).equals(steps), "the same state decides differently");
        if (state.life() == ThreadIdentity.Life.CANCELLED) {
            Violation.unless(
                    steps.stream()
                            .filter(step -> !(step instanceof Step.ReportToParent
                                    || step instanceof Step.CancelTask
                                    || step instanceof Step.Announce
                                    || step instanceof Step.WakeAt))
                            .toList()
                            .equals(List.of(new Step.Close(true))),
                    "a cancelled thread does something other than close");
        }
    }
}
