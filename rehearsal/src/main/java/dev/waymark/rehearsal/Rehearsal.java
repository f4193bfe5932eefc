package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.Pricing;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.history.RecordedReply;
import dev.waymark.history.ThreadCalls;
import dev.waymark.history.ThreadHistory;
import dev.waymark.model.ModelFailure;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.thread.ThreadOwner;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.model.ModelPrompt;
import dev.waymark.worker.provider.ModelProviders;
import io.temporal.common.converter.DataConverterException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Asks candidates at every reply of recorded threads, with the state in which the recorded model was asked, and
 * compares their decisions. Read-only: changes nothing on the server, and runs no tools. An instance runs once.
 */
public final class Rehearsal {
    /** Finished replies wait for the ones before them. Each holds its thread in memory. */
    private static final int WAITING_PER_REQUEST = 4;

    private final RehearsalSettings settings;
    private final Spending spending;
    private final AnswerStore answers;
    private final CandidateCaller caller;
    private final Optional<Judge> judge;
    private final List<Stage> stages;
    private final Optional<String> judgesProvider;
    private final Queue<Waiting> waiting = new ArrayDeque<>();
    private final List<RehearsalReport.Skipped> skipped = new ArrayList<>();

    /** How many replies each thread has. A thread that is forgotten is removed. */
    private final Map<String, Integer> rehearsed = new HashMap<>();

    /** The ids of the encrypted ones of these threads, by name. */
    private final Map<String, String> encrypted = new LinkedHashMap<>();

    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger kept = new AtomicInteger();
    private Optional<String> stopped = Optional.empty();
    private int replies;

    /** Receives progress. */
    public interface Listener {
        /**
         * A reply has been rehearsed.
         *
         * @param part about how much of the work is done, from 0 to 1
         * @param decided the number of replies so far, of all candidates
         */
        void rehearsed(double part, int decided);
    }

    /** A conversation would be sent to a provider that its thread did not use. */
    public static final class ProviderNotAllowed extends Exception {
        private static final long serialVersionUID = 1;

        private final String provider;

        ProviderNotAllowed(String provider, String thread) {
            super("the thread " + thread + " would be sent to the provider " + provider + ", which it did not use");
            this.provider = provider;
        }

        public String provider() {
            return provider;
        }
    }

    /** A check of a thread is judged, and there is no judge. */
    public static final class JudgeMissing extends Exception {
        private static final long serialVersionUID = 1;

        JudgeMissing(String thread) {
            super("a check of the thread " + thread + " is judged, but there is no judge");
        }
    }

    private record Stage(Candidate candidate, CandidateTally tally) {}

    /** The agent that a candidate has for a thread. */
    private record Asked(
            Stage stage, AgentSpec agent, ModelProviders.Bound bound, List<Check> checks, Set<String> differences) {}

    /** A reply of a thread with the agent that a candidate has for it. */
    private record Task(
            CandidateTally.Place place,
            Candidate candidate,
            AgentSpec agent,
            ModelProviders.Bound bound,
            CallResults results,
            Optional<String> encryptedThread,
            Optional<String> owner) {}

    /** @param part how much of the work is done with this reply */
    private record Waiting(CandidateTally tally, Task task, double part, Future<CandidateTally.Answers> answers) {}

    /** A thread, read. */
    private record Recorded(
            String name, Timeline timeline, AgentSpec agent, boolean encrypted, Optional<String> owner) {}

    /** @param candidates at least one, each with a name of its own */
    public Rehearsal(
            List<Candidate> candidates,
            RehearsalSettings settings,
            Optional<JudgeModel> judge,
            AnswerStore answers,
            Spending spending) {
        this.settings = settings;
        this.spending = spending;
        this.answers = answers;
        this.caller = new CandidateCaller(answers, spending);
        this.judge = judge.map(model -> new Judge(model.model(), model.bound(), caller));
        this.judgesProvider = judge.map(model -> provider(model.model()));
        this.stages = candidates.stream()
                .map(candidate -> new Stage(candidate, new CandidateTally(candidate.name(), settings.decrypt())))
                .toList();
    }

    /**
     * Rehearses threads of this source.
     *
     * @param most the maximum number of threads
     */
    public RehearsalReport run(ThreadSource source, int most, Listener listener)
            throws ProviderNotAllowed, JudgeMissing, InterruptedException {
        ExecutorService pool =
                Executors.newFixedThreadPool(settings.parallel(), DaemonThreads.named("waymark-rehearsal"));
        try {
            List<String> chosen = ThreadSource.sample(source.names(), most);
            for (int i = 0; i < chosen.size() && stopped.isEmpty(); i++) {
                Optional<Recorded> thread = read(source, chosen.get(i));
                double before = (double) i / chosen.size();
                if (thread.isPresent()) {
                    rehearse(source, thread.get(), pool, before, 1.0 / chosen.size(), listener);
                }
            }
            while (!waiting.isEmpty()) {
                takeNext(listener);
            }
            new LinkedHashMap<>(encrypted).forEach(this::dropIfForgotten);
        } finally {
            pool.shutdownNow();
        }
        int threads = rehearsed.size();
        return new RehearsalReport(
                RehearsalReport.FORMAT,
                threads,
                replies,
                stages.stream().map(stage -> stage.tally().done()).toList(),
                skipped,
                stopped,
                judge.map(Judge::done),
                contains(threads));
    }

    private String contains(int threads) {
        String plain = "Contains parts of the conversations of " + ReportText.counted(threads, "thread");
        return encrypted.isEmpty()
                ? plain + "."
                : plain + " (encrypted: " + encrypted.size() + "; "
                        + (settings.decrypt() ? "their texts are decrypted here)." : "their texts are left out).");
    }

    /** The number of requests that were sent and answered. */
    public int asked() {
        return asked.get();
    }

    /** The number of answers that were kept from before. */
    public int kept() {
        return kept.get();
    }

    private Optional<Recorded> read(ThreadSource source, String name) {
        try {
            Optional<ThreadHistory> history = source.read(name);
            if (history.isEmpty()) {
                skipped.add(new RehearsalReport.Skipped(name, "there is no such thread"));
                return Optional.empty();
            }
            Timeline timeline = history.get().timeline();
            if (timeline.agent().isEmpty()) {
                skipped.add(new RehearsalReport.Skipped(name, "its agent was never found"));
                return Optional.empty();
            }
            return Optional.of(new Recorded(
                    name,
                    timeline,
                    timeline.agent().get(),
                    history.get().encrypted(),
                    history.get().owner().flatMap(ThreadOwner::subject)));
        } catch (ThreadForgottenException
                | KeyProblem
                | DataConverterException
                | IllegalStateException
                | IllegalArgumentException
                | UncheckedIOException e) {
            skip(name, e);
            return Optional.empty();
        }
    }

    private void skip(String thread, RuntimeException unreadable) {
        skipped.add(new RehearsalReport.Skipped(thread, "it can't be read: " + unreadable.getMessage()));
    }

    /** Drops a thread, as if it had been forgotten before. */
    private void drop(String thread, ThreadForgottenException forgotten) {
        Optional.ofNullable(rehearsed.remove(thread)).ifPresent(all -> {
            replies -= all;
            encrypted.remove(thread);
            stages.forEach(stage -> stage.tally().drop(thread));
            skip(thread, forgotten);
        });
    }

    private void dropIfForgotten(String thread, String id) {
        try {
            answers.requireKey(id);
        } catch (ThreadForgottenException e) {
            drop(thread, e);
        }
    }

    /** Asks the candidates about the replies of a thread. */
    private void rehearse(
            ThreadSource source, Recorded thread, ExecutorService pool, double before, double part, Listener listener)
            throws ProviderNotAllowed, JudgeMissing, InterruptedException {
        List<Asked> agents = new ArrayList<>();
        for (Stage stage : stages) {
            agent(stage, thread, source).ifPresent(agents::add);
        }
        if (agents.isEmpty()) {
            return;
        }
        List<RecordedReply> all = chosen(thread);
        RecordedResults results = new RecordedResults(thread.timeline());
        Optional<String> encryptedThread =
                Optional.of(thread.timeline().thread()).filter(id -> thread.encrypted());
        rehearsed.putIfAbsent(thread.name(), 0);
        encryptedThread.ifPresent(id -> encrypted.put(thread.name(), id));
        for (int i = 0; i < all.size(); i++) {
            RecordedReply past = all.get(i);
            if (!rehearsed.containsKey(thread.name())) {
                return;
            }
            rehearsed.merge(thread.name(), 1, Integer::sum);
            replies++;
            double done = before + part * (i + 1) / all.size();
            for (Asked each : agents) {
                if (stopped.isPresent() || !rehearsed.containsKey(thread.name())) {
                    return;
                }
                Task task = new Task(
                        new CandidateTally.Place(
                                thread.name(),
                                past,
                                thread.encrypted(),
                                thread.agent(),
                                each.checks(),
                                recorded(past, thread.agent(), each.stage().candidate()),
                                each.differences()),
                        each.stage().candidate(),
                        each.agent(),
                        each.bound(),
                        new CallResults(results, settings.scriptedResults()),
                        encryptedThread,
                        thread.owner());
                waiting.add(new Waiting(each.stage().tally(), task, done, pool.submit(() -> answersTo(task))));
                if (waiting.size() >= WAITING_PER_REQUEST * settings.parallel()) {
                    takeNext(listener);
                }
            }
        }
    }

    /** The agent of a candidate for this thread, if its model can be called. */
    private Optional<Asked> agent(Stage stage, Recorded thread, ThreadSource source)
            throws ProviderNotAllowed, JudgeMissing {
        Candidate candidate = stage.candidate();
        Optional<AgentSpec> agent = candidate.inPlaceOf(thread.agent());
        if (agent.isEmpty()) {
            skip(thread, candidate, "it has no agent " + thread.agent().name());
            return Optional.empty();
        }
        String model = agent.get().model();
        Optional<ModelProviders.Bound> bound = candidate.providers().find(model);
        if (bound.isEmpty()) {
            skip(thread, candidate, "there is no provider for " + model);
            return Optional.empty();
        }
        if (bound.get().provider().lacks().isPresent()) {
            skip(thread, candidate, bound.get().provider().lacks().get());
            return Optional.empty();
        }
        if (agent.get().pricing().or(bound.get()::pricing).isEmpty()) {
            skip(
                    thread,
                    candidate,
                    "no price is known for " + model + ", which the ceiling needs. Set pricing in the agent's file, or"
                            + " use --models");
            return Optional.empty();
        }
        checkAllowed(provider(model), thread);
        if (judgesProvider.isPresent()) {
            checkAllowed(judgesProvider.get(), thread);
        }
        List<Check> checks = settings.expected().containsKey(thread.name())
                ? settings.expected().get(thread.name())
                : candidate.checks().getOrDefault(thread.agent().name(), List.of());
        if (judge.isEmpty() && checks.stream().anyMatch(check -> check.rubric().isPresent())) {
            throw new JudgeMissing(thread.name());
        }
        Set<String> differences = candidate.differences(
                thread.agent(),
                agent.get(),
                ThreadCalls.of(thread.timeline()).values(),
                call -> agentOf(source, WireNames.subagentThread(thread.name(), call.id())));
        return Optional.of(new Asked(stage, agent.get(), bound.get(), checks, differences));
    }

    /** The agent of a subagent's thread; empty if the thread can't be read. */
    private static Optional<AgentSpec> agentOf(ThreadSource source, String thread) {
        try {
            return source.read(thread).flatMap(history -> history.timeline().agent());
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /** The cost of a recorded reply if nothing were cached. Without a known price, the recorded cost. */
    private static Spent recorded(RecordedReply past, AgentSpec agent, Candidate candidate) {
        Reply reply = past.reply();
        return candidate
                .pricing(agent, reply.model().orElse(agent.model()))
                .map(pricing -> uncached(reply.usage(), pricing))
                .orElseGet(() -> new Spent(reply.usage(), reply.cost()));
    }

    /** The cost of tokens if nothing were cached. The content of a cache depends on the order of requests. */
    private static Spent uncached(Usage usage, Pricing pricing) {
        return new Spent(usage, Optional.of(pricing.of(new Usage(usage.inputTokens(), usage.outputTokens()))));
    }

    private void checkAllowed(String provider, Recorded thread) throws ProviderNotAllowed {
        if (!settings.allowedProviders().contains(provider)
                && !providersOf(thread.agent()).contains(provider)) {
            throw new ProviderNotAllowed(provider, thread.name());
        }
    }

    private void skip(Recorded thread, Candidate candidate, String reason) {
        skipped.add(new RehearsalReport.Skipped(thread.name(), candidate.name() + ": " + reason));
    }

    private static Set<String> providersOf(AgentSpec agent) {
        Set<String> names = new HashSet<>();
        names.add(provider(agent.model()));
        agent.fallback().stream()
                .map(FallbackModel::model)
                .map(Rehearsal::provider)
                .forEach(names::add);
        return names;
    }

    private static String provider(String model) {
        return model.substring(0, Math.max(0, model.indexOf(':')));
    }

    /** The replies of a thread to rehearse: from a place on, or the last reply of a thread with its own checks. */
    private List<RecordedReply> chosen(Recorded thread) {
        List<RecordedReply> all = RecordedReply.in(thread.timeline());
        if (settings.expected().containsKey(thread.name())) {
            return all.subList(Math.max(0, all.size() - 1), all.size());
        }
        if (settings.from().isEmpty()) {
            return all;
        }
        Optional<RecordedReply> first = settings.from().flatMap(place -> RecordedReply.at(thread.timeline(), place));
        if (first.isEmpty()) {
            skipped.add(new RehearsalReport.Skipped(
                    thread.name(), "it has no reply at " + settings.from().get() + " or before"));
        }
        return all.stream()
                .dropWhile(
                        past -> first.isEmpty() || past.called() != first.get().called())
                .toList();
    }

    private CandidateTally.Answers answersTo(Task task)
            throws ModelFailure, Spending.CeilingReached, InterruptedException {
        RecordedReply past = task.place().past();
        CandidateRequest request = CandidateRequest.of(
                task.agent(), task.bound(), past, task.place().agent());
        List<CandidateTally.Answer> answers = new ArrayList<>();
        for (int vote = 1; vote <= settings.votes(); vote++) {
            CandidateCaller.Given given = caller.answer(request, task.agent(), task.encryptedThread(), vote);
            (given.wasKept() ? kept : asked).incrementAndGet();
            Reply reply = given.answer().reply();
            Optional<Json> schema = past.state().turn().schema();
            Reply examined = past.summary() ? reply : ModelPrompt.examined(reply, task.agent(), schema);
            answers.add(new CandidateTally.Answer(
                    compared(task, examined),
                    new AnswerStore.Kept(examined, given.answer().millis()),
                    uncached(reply.usage(), CandidateCaller.pricing(request, task.agent())),
                    unmet(task, examined)));
        }
        CandidateTally.Answers all = new CandidateTally.Answers(answers, List.of());
        return all.isSame() || settings.continued() == 0 || past.summary()
                ? all
                : new CandidateTally.Answers(
                        answers, continued(task, all.different().get(0)));
    }

    private Comparison compared(Task task, Reply reply) throws Spending.CeilingReached, InterruptedException {
        RecordedReply past = task.place().past();
        Comparison compared = Comparison.of(
                past, reply, task.agent(), task.place().agent(), task.owner(), task.candidate()::mayHaveEffects);
        return judge.isEmpty() || !compared.isAboutText()
                ? compared
                : compared.judged(judge.get()
                        .saySame(
                                CandidateTally.context(past),
                                Comparison.text(past.reply()),
                                Comparison.text(reply),
                                task.encryptedThread()));
    }

    /** The rubrics that a final text does not meet. */
    private Set<String> unmet(Task task, Reply reply) throws Spending.CeilingReached, InterruptedException {
        RecordedReply past = task.place().past();
        Set<String> unmet = new HashSet<>();
        if (judge.isPresent() && reply.isLastWord() && !past.summary()) {
            for (Check check : task.place().checks()) {
                String rubric = check.rubric().orElse("");
                if (!rubric.isEmpty()
                        && !judge.get()
                                .meets(
                                        rubric,
                                        CandidateTally.context(past),
                                        Comparison.text(reply),
                                        task.encryptedThread())) {
                    unmet.add(rubric);
                }
            }
        }
        return unmet;
    }

    private List<String> continued(Task task, CandidateTally.Answer answer)
            throws Spending.CeilingReached, InterruptedException {
        Continuation.Continued continued = new Continuation(
                        caller,
                        task.agent(),
                        task.bound(),
                        task.place().past(),
                        task.results(),
                        task.owner(),
                        task.encryptedThread())
                .run(answer.given().reply(), settings.continued());
        List<String> lines = new ArrayList<>(continued.steps());
        lines.add(continued.end());
        return lines;
    }

    /** Takes the answers to the reply that has waited longest, so that reports have the order of the threads. */
    private void takeNext(Listener listener) throws InterruptedException {
        Waiting next = waiting.remove();
        if (rehearsed.containsKey(next.task().place().thread())) {
            take(next);
        } else {
            next.answers().cancel(true);
        }
        listener.rehearsed(next.part(), replies);
    }

    private void take(Waiting next) throws InterruptedException {
        CandidateTally.Place place = next.task().place();
        AgentSpec agent = next.task().agent();
        try {
            next.tally().add(place, agent, next.answers().get());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ModelFailure failure) {
                next.tally().failed(place, agent, failure.type() + ": " + failure.getMessage());
            } else if (e.getCause() instanceof Spending.CeilingReached ceiling) {
                stopped = Optional.of(String.valueOf(ceiling.getMessage()));
            } else if (e.getCause() instanceof ThreadForgottenException forgotten) {
                drop(place.thread(), forgotten);
            } else if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            } else {
                throw new IllegalStateException(e.getCause());
            }
        }
    }

    /** The spending of this rehearsal, including that of a killed process before it. */
    public Usd spent() {
        return spending.spent();
    }
}
