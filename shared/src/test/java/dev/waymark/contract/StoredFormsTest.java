package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.Endpoint;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.Sandbox;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.JudgeInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.WordsReport;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AbandonedTask;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Clearance;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.Execution;
import dev.waymark.conversation.call.FromFile;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.call.ToolDefinition;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.DecisionSignature;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.policy.UntrustedRule;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.AgentBinding;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.AnnouncementPlan;
import dev.waymark.conversation.state.Announcements;
import dev.waymark.conversation.state.Arrivals;
import dev.waymark.conversation.state.CallBook;
import dev.waymark.conversation.state.Counters;
import dev.waymark.conversation.state.Dialogue;
import dev.waymark.conversation.state.Grants;
import dev.waymark.conversation.state.IgnoredSignals;
import dev.waymark.conversation.state.Money;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.state.ParentLink;
import dev.waymark.conversation.state.SeenIds;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.TokenEstimate;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentList;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.VerifiedSubject;
import dev.waymark.conversation.value.WordSource;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The JSON forms of records in histories. Their fields may be missing, null, or unknown because they are newer. */
class StoredFormsTest {
    private static final Instant AT = Instant.parse("2026-05-01T09:00:00.003Z");
    private static final Json ARGS = Json.of(Map.of("x", List.of(1, 2.5, "é"), "big", 123456789012L));
    private static final Json SCHEMA = Json.of(Map.of("type", "object"));
    private static final Part.ToolUse USE = new Part.ToolUse("tu_1", "add", ARGS);

    /** Records with all of their fields set, each with the names of its required fields. */
    static Stream<Arguments> stored() {
        Transcript transcript =
                Transcript.EMPTY.plus(new Transcript.Entry("m1", AT, Optional.of("id-1"), Message.assistant(USE)));
        Turn turn = new Turn(
                2,
                Turn.Status.FAILED,
                3,
                new Usage(1, 2),
                "words",
                Optional.of(new Problem("T", "m")),
                AT,
                Optional.of(ARGS),
                true,
                Optional.of(ARGS),
                1);
        TokenEstimate tokenEstimate = new TokenEstimate(41, 2, Optional.of(3));
        SummaryRule summaries = new SummaryRule(170_000, 6);
        ResultRule results = new ResultRule(16_384);
        LongResult longResult = LongResult.of("tu_1", "é😀");
        Call.Claim claim = new Call.Claim("run/1", AT, 7);
        Signers signers = new Signers("trip", Map.of("ann", new SignerKey("ed25519:AAAA")));
        DecisionSignature signature = new DecisionSignature(AT, "e3b0", Optional.of("e3b1"), Optional.empty(), "AAAA");
        DecisionSignature ofSettlement =
                new DecisionSignature(AT, "e3b0", Optional.empty(), Optional.of("paid"), "AAAA");
        GrantTerms terms = new GrantTerms(Optional.of(3), Optional.of(3_600L), Optional.of(ARGS), false);
        Grant grant = new Grant(
                2,
                "charge",
                "tu_0",
                "e3b0",
                terms,
                AT,
                1,
                Optional.of("ann"),
                Optional.of(new VerifiedSubject("ann", Optional.empty())),
                Optional.of("e3b2"),
                Optional.of(new Grant.End(Grant.Reason.REVOKED, AT, Optional.of("bob"))));
        CallVerdict.Compared compared = new CallVerdict.Compared(2, List.of(1));
        ToolDefinition definition = new ToolDefinition("e3b2", List.of("e3b3"), true);
        CallApproval approval = new CallApproval(
                        true, true, Optional.of("ann"), Optional.of("fine"), AT, Optional.of(signature))
                .granting(Optional.of(terms));
        Usd usd = Usd.of(new BigDecimal("0.0000000375"));
        Budget budget = new Budget(Optional.of(usd), Optional.of(200_000L));
        Spent spent = new Spent(new Usage(5, 6, 2, 1), Optional.of(usd));
        CallVerdict verdict = new CallVerdict(
                        CallVerdict.Then.DENY, Optional.of(2), Optional.of("too large"), Optional.of(ARGS))
                .comparedWith(Optional.of(compared))
                .about(Optional.of("e3b2"));
        UntrustedWords untrusted = new UntrustedWords(
                Optional.of(WordSource.call("tu_7", "fetch")), Optional.of(WordSource.message("m3")));
        UntrustedRule untrustedRule = new UntrustedRule(Set.of("fetch"), List.of("docs"));
        PendingItem ask = new PendingItem(
                "",
                "tu_9",
                PendingItem.Kind.APPROVAL,
                "charge",
                Optional.of("May it?"),
                Optional.of(ARGS),
                Optional.of("e3b0"),
                true,
                AT,
                Optional.of("HTTP 504"),
                Optional.of(signers),
                List.of(),
                true,
                true,
                Optional.of(verdict),
                Optional.of(ARGS),
                Optional.of("e3b2"),
                true,
                Optional.of(AT),
                Optional.of(untrusted));
        SubagentProgress report = new SubagentProgress(true, List.of(ask), spent);
        Delegation.Decision decision = new Delegation.Decision("approve", ARGS);
        Delegation delegation = new Delegation(
                report, List.of("tu_9"), List.of("tu_8"), List.of(decision), Optional.of(budget), spent, true, true);
        FromFile fromFile = new FromFile(true, true);
        Parent parent = new Parent("tu_0", 2, Optional.of(budget), Optional.of(untrusted));
        CallSettlement settlement = new CallSettlement(
                CallSettlement.Outcome.NOT_DONE,
                Optional.of("ann"),
                Optional.of(new VerifiedSubject("ann", Optional.of("https://id"))),
                Optional.of("not on the statement"),
                AT);
        Suspension suspension = new Suspension(
                Optional.of("task-1"),
                Optional.of("state"),
                Map.of("k", ARGS),
                Map.of("k", ARGS),
                5_000,
                Optional.of(AT));
        AbandonedTask abandoned = new AbandonedTask("tu_0", "charge", "task-0");
        Clearance clearance = new Clearance(
                Optional.of(approval),
                Optional.of(fromFile),
                Optional.of(verdict),
                Optional.of(2),
                Optional.of(definition));
        Execution execution = new Execution(
                1,
                2,
                Optional.of(claim),
                Optional.of("HTTP 504"),
                Optional.of(settlement),
                Optional.of(delegation),
                Optional.of(suspension));
        Call call = new Call(
                "tu_1",
                "add",
                ARGS,
                Optional.of(ARGS),
                Optional.of("e3b0"),
                1,
                Call.Status.ASKING,
                AT,
                Optional.of(AT),
                Optional.of("Day?"),
                Optional.of("3"),
                clearance,
                execution);
        WaitRule waiting = WaitRule.DEFAULT
                .reminding(Duration.ofHours(1))
                .escalating(Duration.ofHours(4), "boss")
                .keepingOn();
        AnnounceRule announce = AnnounceRule.to("ops").only(AnnouncedEvent.WAITING);
        Announcement.Request request = Announcement.Request.of(ask);
        Announcement announcement = new Announcement(
                3,
                "ops",
                AnnouncementPlan.of(announce, PendingItem.Kind.APPROVAL, Optional.empty(), true),
                AT,
                Optional.of(request),
                Optional.of(1),
                Optional.of("approved"),
                Optional.of("ann"),
                Announcement.Progress.OVER);
        AgentPolicy.ToolPolicy ofTool =
                new AgentPolicy.ToolPolicy(true, true, true, true, true, 60_000, true, true, true, true);
        AgentPolicy.Approvals approvals =
                new AgentPolicy.Approvals(true, Optional.of(1_000L), Optional.of(signers), waiting);
        AgentPolicy policy = new AgentPolicy(
                        "helper",
                        4,
                        Map.of("ask_user", AgentPolicy.Executor.QUESTION),
                        Map.of("charge", ofTool),
                        Optional.of(approvals),
                        Optional.of(budget),
                        Optional.of(ARGS),
                        Optional.of(summaries),
                        List.of(announce))
                .withResults(results)
                .withUntrusted(untrustedRule);
        EffectLog.Remembered remembered = new EffectLog.Remembered("tu_0", 1, claim);
        EffectLog.Effect effect =
                new EffectLog.Effect(2, Optional.of("tu_0"), Optional.of("paid"), List.of(remembered), true, 7);
        Workspace.Todo todo = new Workspace.Todo("1", "é", "pending");
        Workspace.PlanStep planStep = new Workspace.PlanStep("1", "go", "done");
        Workspace.Plan plan = new Workspace.Plan("goal", List.of(planStep));
        Workspace.VirtualFile file = new Workspace.VirtualFile("text", AT, AT);
        Workspace workspace = new Workspace(
                List.of(todo),
                Optional.of(plan),
                PersistentMap.<Workspace.VirtualFile>empty().with("a/b", file));
        SeenIds seen = new SeenIds(PersistentMap.<Integer>empty().with("id-1", 4), PersistentMap.empty());
        IgnoredSignals ignored = new IgnoredSignals(1, List.of(new IgnoredSignal("say", "why", AT)));
        Queued queued = new Queued(Optional.of("id-2"), Message.user("Hello"), AT, Optional.of(ARGS), true);
        Origin origin = new Origin(Optional.of("trip"), Optional.of(ARGS));
        Conversation conversation = new Conversation(
                new ThreadIdentity(
                        ThreadIdentity.RULES, true, ThreadIdentity.Life.CLOSING, true, AT, AT, Optional.of(origin)),
                new AgentBinding("helper", true, Optional.of(policy), Optional.of(ARGS)),
                new Dialogue(
                        transcript,
                        List.of(queued),
                        turn,
                        Optional.of(turn),
                        true,
                        Optional.of(tokenEstimate),
                        1,
                        Map.of("openai:m", 1),
                        true,
                        Optional.of(ARGS),
                        Optional.of(untrusted)),
                new CallBook(
                        List.of("tu_1"),
                        PersistentMap.<Call>empty().with("tu_1", call),
                        Optional.of(new EffectLog(
                                PersistentMap.<EffectLog.Effect>empty().with("charge:e3b0", effect))),
                        Optional.of(workspace),
                        Optional.of(PersistentMap.<Integer>empty().with("tu_0", 1)),
                        Optional.of(PersistentMap.<AbandonedTask>empty().with("tu_0", abandoned)),
                        Optional.of(new Grants(2, List.of(grant))),
                        List.of(longResult)),
                new Money(Optional.of(3), new Usage(5, 6), Optional.of(usd), Optional.of(budget)),
                new ParentLink(Optional.of(parent), Optional.of(report)),
                new Arrivals(seen, ignored),
                new Counters(1, 2, 3, 4),
                Optional.of(new Announcements(3, List.of(request), List.of(announcement), Optional.of(AT))));
        return Stream.of(
                stored(new Part.Text("é😀"), "type", "text"),
                stored(new Part.Image("http://x", Optional.of("image/png")), "type", "url"),
                stored(new Part.ImageData("aGk=", "image/png"), "type", "data", "mimeType"),
                stored(new Part.Reasoning("hm", ARGS), "type", "text"),
                stored(USE, "type", "id", "name"),
                stored(new Part.ToolResult("tu_1", "3", true), "type", "toolUseId", "content"),
                stored(Message.assistant(USE, new Part.Text("x")), "role", "content"),
                stored(new Reply(List.of(USE), new Usage(1, 2), "tool_use"), "content"),
                stored(
                        new Reply(List.of(USE), new Usage(1, 2), "max_tokens")
                                .withFaults(List.of(new Reply.Fault(0, "no")))
                                .charged(Optional.of(usd), spent),
                        "content"),
                stored(Reply.of(new Part.Text("x")).withMisfit("no"), "content"),
                stored(Reply.of(new Part.Text("{}")).withStructured(ARGS), "content"),
                stored(tokenEstimate),
                stored(summaries, "whenTokens", "keepMessages"),
                stored(results, "showBytes"),
                stored(longResult, "callId", "text"),
                stored(new Usage(1, 2)),
                stored(new Usage(9, 2, 4, 3)),
                stored(budget),
                stored(spent),
                stored(new PartialReply(3, 2, 7, "wor", Optional.of(spent))),
                stored(new PartialReply(
                        3,
                        2,
                        7,
                        "wor",
                        Optional.of(new PartialReply.Piece(4, "why")),
                        Optional.of(spent),
                        List.of("a:1", "a:1"),
                        List.of("b:2"),
                        List.of("c:3"),
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        Optional.of(Instant.EPOCH))),
                stored(new PartialReply(
                        3,
                        2,
                        7,
                        "wor",
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        List.of(),
                        List.of(),
                        Optional.of(new PartialReply.SavedReply("run-1", "e3b0", Reply.of(USE))),
                        Optional.of("waymark-words-1"),
                        List.of(new PartialReply.RunningCall("tu_1", "look")),
                        Optional.empty())),
                stored(new WordsRequest(List.of(new WordsRequest.Call("trip", "run-1", 1, 2, 3, 5, 1)))),
                stored(new WordsReport(List.of(new WordsReport.News(1, "CgA=")), List.of(0))),
                stored(
                        new ModelResult(Reply.of(USE), List.of(new ModelResult.Ran("tu_1", ToolOutcome.result("red")))),
                        "content"),
                stored(Reply.of(new Part.Text("x")).answeredBy("b:2").sealed(), "content"),
                stored(Pricing.of("3.0", "15").withCache("0.30", "3.75"), "input", "output"),
                stored(new Problem("T", "m"), "type"),
                stored(new Counters(1, 2, 3, 4)),
                stored(origin),
                stored(ask, "callId", "kind", "tool", "since"),
                stored(report, "asks", "spent"),
                stored(decision, "signal", "body"),
                stored(delegation, "report", "booked"),
                stored(parent, "callId"),
                stored(policy, "agent", "tools"),
                stored(turn, "status", "usage", "text", "startedAt"),
                stored(call, "id", "tool", "args", "status", "since"),
                stored(fromFile),
                stored(new RunOutcome(
                        "complete", 1, "Hi", Optional.empty(), Optional.of(spent), Optional.of("d"), true)),
                stored(untrusted),
                stored(WordSource.call("tu_7", "fetch"), "by"),
                stored(untrustedRule),
                stored(verdict, "then"),
                stored(new Reply.Judged(1, verdict), "verdict"),
                stored(Reply.of(USE).withVerdicts(List.of(new Reply.Judged(0, verdict))), "content"),
                stored(terms),
                stored(GrantTerms.THREAD.withAnyArgs()),
                stored(grant, "tool", "callId", "argsDigest", "terms", "at"),
                stored(new Grant.End(Grant.Reason.TOOL_CHANGED, AT, Optional.empty()), "reason", "at"),
                stored(new Grants(2, List.of(grant))),
                stored(compared),
                stored(definition, "digest"),
                stored(
                        new JudgeInput(
                                "tu_1",
                                "add",
                                ARGS,
                                Optional.of("ann"),
                                spent,
                                3,
                                List.of(new JudgeInput.GrantSchema(1, ARGS)),
                                2,
                                true,
                                true,
                                Optional.of(untrusted)),
                        "callId",
                        "tool",
                        "args"),
                stored(new JudgeInput.GrantSchema(1, ARGS), "like"),
                stored(new ToolInput(
                        "tu_1",
                        2,
                        ARGS,
                        Optional.of("run"),
                        1,
                        Optional.of("trip"),
                        Optional.of(suspension),
                        List.of("e3b2"),
                        Optional.of(3))),
                stored(new ToolOutcome.NotStarted("run/1", "late", Optional.of("e3b2")), "execution"),
                stored(new ModelInput.VerdictRequest(Optional.of("ann"))),
                stored(new ModelInput(
                        1,
                        2,
                        "e3b0",
                        false,
                        Optional.of("e3b1"),
                        true,
                        Optional.of(new ModelInput.VerdictRequest(Optional.of("ann"))))),
                stored(claim, "execution", "at"),
                stored(approval, "at"),
                stored(signers, "place", "keys"),
                stored(signature, "asked", "argsDigest", "signature"),
                stored(ofSettlement, "asked", "argsDigest", "signature"),
                stored(ofTool),
                stored(approvals),
                stored(effect),
                stored(remembered, "callId", "claim"),
                stored(settlement, "outcome", "at"),
                stored(todo, "id", "content", "status"),
                stored(planStep, "id", "description", "status"),
                stored(plan),
                stored(file, "content", "createdAt", "modifiedAt"),
                stored(workspace),
                stored(new Reply.Fault(1, "too short")),
                stored(seen, "young", "old"),
                stored(ignored, "last"),
                stored(new IgnoredSignal("say", "why", AT), "signal", "reason", "at"),
                stored(queued, "message", "at"),
                stored(transcript, "entries", "digest"),
                stored(new Transcript.Entry("m1", AT, Optional.of("id-1"), Message.user("x")), "id", "at", "message"),
                stored(
                        conversation,
                        "rules",
                        "agent",
                        "life",
                        "transcript",
                        "queue",
                        "turn",
                        "batch",
                        "calls",
                        "usage",
                        "seen",
                        "ignored",
                        "counters",
                        "createdAt",
                        "updatedAt"),
                stored(
                        Endpoint.of(Endpoint.Method.POST, "https://a.example/{id}")
                                .withHeader("X-Token", "${TOKEN}")
                                .allowingPrivate(),
                        "method",
                        "url"),
                stored(new CarriedState(conversation, Optional.empty()), "state"),
                stored(agent(), "name", "model", "tools"),
                stored(
                        FallbackModel.of("openai:m-2")
                                .with(Pricing.of("3.0", "15"))
                                .withSilence(Duration.ofMinutes(1)),
                        "model"),
                stored(agent().approvals().orElseThrow()),
                stored(agent().tools().get(0), "name", "kind"),
                stored(agent().tools().get(1), "name", "kind", "http"),
                stored(agent().tools().get(2), "name", "kind", "mcp"),
                stored(agent().tools().get(3), "name", "kind"),
                stored(TOKEN),
                stored(TOKEN.client().orElseThrow(), "url", "id", "secret"),
                stored(McpToken.printedBy(List.of("print-token"), Map.of("KEY", "${KEY}"))));
    }

    private static final McpToken TOKEN = McpToken.grantedTo(new McpToken.ClientCredentials(
            "https://login.example/token", "waymark", "${SECRET}", Optional.of("search")));

    /** An agent with all settings, and with a tool of every kind. */
    private static AgentSpec agent() {
        ToolSpec charge = ToolSpec.command("charge_card", "./charge.sh", "--now")
                .describedAs("Charges the card", SCHEMA)
                .env(Map.of("KEY", "${KEY}"))
                .sandbox(new Sandbox(true, List.of("in"), List.of("out")))
                .timeout(Duration.ofSeconds(90))
                .approval()
                .dedupe()
                .verify("./charge-verify.sh")
                .askOnUnknown()
                .honoursKey()
                .verifyForbids()
                .output(SCHEMA)
                .build();
        ToolSpec refund = ToolSpec.http("refund", Endpoint.of(Endpoint.Method.POST, "https://a.example/{id}"))
                .env(Map.of("KEY", "${KEY}"))
                .verify("./refund-verify.sh")
                .build();
        ToolSpec search = ToolSpec.mcp("search", McpServer.at("web", "https://a.example/mcp", Map.of()), "Search")
                .safeToRetry()
                .untrusted()
                .build();
        ToolSpec book = ToolSpec.java("book").verifies().honoursKey().build();
        List<ToolSpec> tools = new ArrayList<>(List.of(charge, refund, search, book));
        tools.addAll(BuiltInTools.of("ask_user"));
        tools.addAll(BuiltInTools.of("todos"));
        tools.add(ToolSpec.subagent("researcher", "Finds things out."));
        return new AgentSpec.Builder("billing", "anthropic:m-1")
                .description("Settles bills")
                .instructions("You settle bills.")
                .maxTokens(1_000)
                .maxIterations(7)
                .tools(tools)
                .approvals(new AgentSpec.Approvals(
                        false,
                        Optional.of(Duration.ofHours(24)),
                        Map.of("ann", new SignerKey("ed25519:AAAA")),
                        Optional.of("trip"),
                        Optional.empty()))
                .budget(new Budget(Optional.of(Usd.of(new BigDecimal("2.5"))), Optional.of(200_000L)))
                .pricing(Pricing.of("3.0", "15"))
                .context(SCHEMA)
                .summaries(new SummaryRule(170_000, 6))
                .fallback(List.of(FallbackModel.of("openai:m-2").withSilence(Duration.ofMinutes(1))))
                .silence(Duration.ofMinutes(2))
                .build();
    }

    /** The stored bytes of an agent do not depend on its classes. */
    @Test
    void agent_andItsPolicy_areStoredAsBefore() throws IOException {
        assertThat(PayloadJson.MAPPER.writeValueAsString(agent())).isEqualTo(golden("agent"));
        assertThat(PayloadJson.MAPPER.writeValueAsString(AgentPolicies.of(agent())))
                .isEqualTo(golden("policy"));
        assertThat(PayloadJson.MAPPER.readValue(golden("agent"), AgentSpec.class))
                .isEqualTo(agent());
        assertThat(PayloadJson.MAPPER.readValue(golden("policy"), AgentPolicy.class))
                .isEqualTo(AgentPolicies.of(agent()));
    }

    private static String golden(String name) throws IOException {
        try (InputStream file =
                Objects.requireNonNull(StoredFormsTest.class.getResourceAsStream("/agent/" + name + ".json"))) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8).strip();
        }
    }

    private static Arguments stored(Object value, String... required) {
        return Arguments.of(value, Set.of(required));
    }

    @ParameterizedTest
    @MethodSource("stored")
    void record_writtenAndRead_isUnchanged(Object value, Set<String> required) throws IOException {
        assertThat(read(value, tree(value))).isEqualTo(value);
    }

    @ParameterizedTest
    @MethodSource("stored")
    void record_withAnUnknownField_isRead(Object value, Set<String> required) throws IOException {
        ObjectNode tree = tree(value);
        tree.putObject("fromTheFuture").put("x", 1);

        assertThat(read(value, tree)).isEqualTo(value);
    }

    /** A stored state is one flat object, independent of its classes. */
    @Test
    void conversation_storedAsOneFlatObject_isReadUnchanged() throws IOException {
        JsonNode golden;
        try (InputStream file = Objects.requireNonNull(getClass().getResourceAsStream("/conversation/state.json"))) {
            golden = PayloadJson.MAPPER.readTree(file);
        }

        Conversation read = PayloadJson.MAPPER.readValue(golden.toString(), Conversation.class);

        assertThat(tree(read)).isEqualTo(golden);
    }

    /** A record without an optional field is usable. A record without a required field is refused when it is read. */
    @ParameterizedTest
    @MethodSource("stored")
    void record_withAMissingOrNullField_isReadOrRefused(Object value, Set<String> required) throws IOException {
        List<String> fields = new ArrayList<>();
        for (Iterator<String> names = tree(value).fieldNames(); names.hasNext(); ) {
            fields.add(names.next());
        }
        for (String field : fields) {
            ObjectNode without = tree(value);
            without.remove(field);
            ObjectNode withNull = tree(value);
            withNull.putNull(field);
            if (required.contains(field)) {
                assertThatThrownBy(() -> read(value, without)).as(field).isInstanceOf(JsonProcessingException.class);
                assertThatThrownBy(() -> read(value, withNull)).as(field).isInstanceOf(JsonProcessingException.class);
            } else {
                Object read = read(value, without);
                assertThat(read(value, withNull)).as(field).isEqualTo(read);
                assertThat(read(read, tree(read))).as(field).isEqualTo(read);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("stored")
    void part_asATree_equalsJacksonsJson(Object value, Set<String> required) throws IOException {
        if (value instanceof Part part) {
            assertThat(Json.of(part.tree())).isEqualTo(PayloadJson.MAPPER.convertValue(tree(value), Json.class));
        }
    }

    /** Approvals and settlements once had records of their own. */
    @Test
    void signature_ofEitherDecision_isStoredAsBefore() throws IOException {
        for (String field : List.of("newArgsDigest", "result")) {
            String stored = "{\"asked\":\"2026-05-01T09:00:00.003Z\",\"argsDigest\":\"e3b0\",\"" + field
                    + "\":\"x\",\"signature\":\"AAAA\"}";

            DecisionSignature read = PayloadJson.MAPPER.readValue(stored, DecisionSignature.class);

            assertThat(PayloadJson.MAPPER.writeValueAsString(read)).isEqualTo(stored);
            assertThat(read.decidedArgsDigest()).isEqualTo(field.equals("result") ? "e3b0" : "x");
        }
    }

    @Test
    void toolResult_ofASuccess_hasNoErrorFlag() throws IOException {
        assertThat(PayloadJson.MAPPER.writeValueAsString(new Part.ToolResult("a", "b", false)))
                .isEqualTo("{\"type\":\"tool_result\",\"toolUseId\":\"a\",\"content\":\"b\"}");
    }

    @Test
    void toolUse_withNullInput_isReadUnchanged() throws IOException {
        Part use = new Part.ToolUse("a", "b", Json.of(null));

        assertThat(read(use, tree(use))).isEqualTo(use);
        assertThat(new Message(Role.ASSISTANT, List.of(use)).canonical()).contains("\"input\": {}");
    }

    @Test
    void toolUse_withNullsInItsInput_isReadUnchanged() throws IOException {
        Json input = PayloadJson.MAPPER.readValue("{\"a\":null,\"b\":{\"c\":null},\"d\":[{\"e\":null}]}", Json.class);
        Part use = new Part.ToolUse("a", "b", input);

        assertThat(read(use, tree(use))).isEqualTo(use);
        assertThat(((Part.ToolUse) read(use, tree(use))).input().canonical())
                .isEqualTo("{\"a\": null, \"b\": {\"c\": null}, \"d\": [{\"e\": null}]}");
    }

    @ParameterizedTest
    @CsvSource({
        "-1, An older development build started this thread",
        "0, An older development build started this thread",
        "4, An older development build started this thread",
        "10, An older development build started this thread",
        "99, Use a newer version"
    })
    void conversation_ofUnknownRules_isRefused(int rules, String reason) {
        ObjectNode tree = PayloadJson.MAPPER.valueToTree(started());
        tree.put("rules", rules);

        assertThatThrownBy(() -> PayloadJson.MAPPER.treeToValue(tree, Conversation.class))
                .hasMessageContaining("this thread goes by rules " + rules)
                .hasMessageContaining("knows rules " + ThreadIdentity.RULES + ". " + reason);
    }

    /** Call ids are keys in a carried state, and Jackson's default limit for a key is 50,000 characters. */
    @Test
    void carriedState_withAVeryLongCallId_isRead() {
        Conversation state = Rules.apply(
                Rules.start(new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()), AT),
                new PersonFact.UserSpoke(
                        Optional.empty(),
                        Optional.of(List.of(
                                Message.assistant(new Part.ToolUse("i".repeat(60_000), "add", ARGS)),
                                Message.results(List.of(new Part.ToolResult("i".repeat(60_000), "3", false))))),
                        Optional.empty(),
                        false),
                AT);
        CarriedState carried = new CarriedState(state, Optional.empty());
        assertThat(CarriedState.unpack(carried.pack())).isEqualTo(carried);
    }

    @Test
    void conversation_hugeButCompressible_isPackedAndUnpacked() {
        Conversation state = started();
        for (int i = 0; i < 200; i++) {
            state = Rules.apply(
                    state,
                    new PersonFact.UserSpoke(
                            Optional.of("id-" + i),
                            Optional.empty(),
                            Optional.of(Message.user("漢😀".repeat(5_000))),
                            false),
                    AT);
        }

        CarriedState carried = new CarriedState(state, Optional.empty());
        assertThat(CarriedState.unpack(carried.pack())).isEqualTo(carried);
    }

    @Test
    void digest_ofAState_coversEverythingExceptTranscriptEntries() {
        Conversation state = started();
        Conversation other = Rules.apply(state, new ThreadFact.MessageIgnored("x", new Problem("T", "m")), AT);

        assertThat(StateDigest.of(other)).isNotEqualTo(StateDigest.of(state));
        assertThat(StateDigest.of(state)).isEqualTo(StateDigest.of(started()));
    }

    @Test
    void list_containingNull_isRefused() {
        assertThatThrownBy(() -> PayloadJson.MAPPER.readValue("[null]", PersistentList.class))
                .isInstanceOf(JsonProcessingException.class);
    }

    private static Conversation started() {
        return Rules.start(new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()), AT);
    }

    private static ObjectNode tree(Object value) throws IOException {
        return (ObjectNode) PayloadJson.MAPPER.readTree(PayloadJson.MAPPER.writeValueAsBytes(value));
    }

    private static Object read(Object value, ObjectNode tree) throws IOException {
        Class<?> type = value instanceof Part ? Part.class : value.getClass();
        return PayloadJson.MAPPER.readValue(PayloadJson.MAPPER.writeValueAsBytes(tree), type);
    }
}
