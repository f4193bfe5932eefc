package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Skills;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Skills of agents in files and in Java, in threads of a worker. */
class SkillsTest {
    private static final String TOLD = """
            # Skills

            A skill says how to do a certain kind of task. Before you do such a task, read the skill with read_skill, \
            and then those of its other files that you need. These are your skills, and when to use them:

            - memo: Writes memos. Use it for notes, too.
            - pdf: Reads PDFs
            """;

    private static InMemoryServer server;
    private static Connection connection;

    @TempDir
    Path directory;

    private final List<ModelRequest> requests = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void connect() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void disconnect() {
        connection.close();
        server.close();
    }

    @BeforeEach
    void skills() throws IOException {
        skill("pdf", "Reads PDFs");
        skill("memo", ">\n  Writes memos.\n  Use it for notes, too.");
        Files.writeString(directory.resolve("skills/pdf/forms.md"), "Forms");
    }

    private void skill(String name, String description) throws IOException {
        Path folder = Files.createDirectories(directory.resolve("skills/" + name));
        Files.writeString(
                folder.resolve("SKILL.md"), "---\nname: " + name + "\ndescription: " + description + "\n---\nDo.\n");
    }

    private interface Step {
        Part next() throws IOException;
    }

    /** Takes the next step when it is called, and at the end says the last result. */
    private ModelProvider model(Step... steps) {
        return request -> {
            requests.add(request);
            List<String> results = results(request);
            try {
                return Reply.of(
                        results.size() < steps.length
                                ? steps[results.size()].next()
                                : new Part.Text(results.get(results.size() - 1)));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    private static List<String> results(ModelRequest request) {
        return request.messages().stream()
                .flatMap(message -> message.toolResults().stream())
                .map(Part.ToolResult::content)
                .toList();
    }

    private static Part read(String id, Map<String, Object> args) {
        return new Part.ToolUse(id, "read_skill", Json.of(args));
    }

    private static String turn(String thread, String agent) {
        WorkflowStub stub = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue("skills")
                                .setWorkflowId(thread)
                                .build());
        stub.start(StartInput.of(agent).closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Go")));
        return stub.getResult(RunOutcome.class).text();
    }

    private static List<String> activities(String thread) {
        return connection.client().fetchHistory(thread).getEvents().stream()
                .filter(HistoryEvent::hasActivityTaskScheduledEventAttributes)
                .map(event -> event.getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName())
                .toList();
    }

    private AgentDirectory load(ModelProvider model) throws Exception {
        return AgentDirectory.load(directory, ModelProviders.of(Map.of("fake", model)), JavaTools.NONE);
    }

    private void file(String name, String fields) throws IOException {
        Files.writeString(directory.resolve(name + ".yaml"), "model: fake:any\n" + fields);
    }

    @Test
    void skills_areRead_withTheModelCall_andChangesAreSaid() throws Exception {
        file("docs", "instructions: Be brief.\nskills: [./skills]\n");
        Path main = directory.resolve("skills/pdf/SKILL.md");
        ModelProvider model = model(
                () -> read("main", Map.of("name", "pdf", "path", "")),
                () -> read("other", Map.of("name", "pdf", "path", "forms.md")),
                () -> read("unknown", Map.of("name", "pfd")),
                () -> read("outside", Map.of("name", "pdf", "path", "../memo/SKILL.md")),
                () -> {
                    Files.writeString(main, "New.");
                    return read("changed", Map.of("name", "pdf", "path", "forms.md"));
                },
                () -> {
                    Files.delete(main);
                    Files.delete(directory.resolve("skills/pdf/forms.md"));
                    Files.delete(directory.resolve("skills/pdf"));
                    return read("missing", Map.of("name", "pdf"));
                });
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("skills")
                .agents(load(model))
                .provider("fake", model)
                .build()) {
            worker.start();

            turn("docs", "docs");
        }

        List<String> results = results(requests.get(6));
        assertThat(results.subList(0, 4))
                .containsExactly(
                        "---\nname: pdf\ndescription: Reads PDFs\n---\nDo.\n",
                        "Forms",
                        "Tool error: no skill pfd. Your skills: memo, pdf",
                        "Tool error: expected a path within the skill, found ../memo/SKILL.md");
        assertThat(results.get(4))
                .matches("\\[The skill has changed since this thread began: its digest was [0-9a-f]{12} and is"
                        + " [0-9a-f]{12}\\. This is the present text\\.]\nForms");
        assertThat(results.get(5)).isEqualTo("Tool error: this worker does not have the folder of the skill");
        assertThat(requests)
                .hasSize(7)
                .allSatisfy(request -> assertThat(request.instructions()).contains("Be brief.\n\n" + TOLD));
        // The agent activity, and the model calls; each of them but the last reads a file.
        assertThat(activities("docs")).hasSize(8).doesNotContain("read_skill");
    }

    @Test
    void skillsOfAnAgentInJava_areReadWhenAThreadStarts_andStayAsTheyAreWhileOneIsInvalid() throws Exception {
        Files.delete(directory.resolve("skills/pdf/SKILL.md"));
        Agent docs = Agent.named("docs")
                .model("fake:any")
                .skills(directory.resolve("skills"))
                .build();
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("skills")
                .agent(docs)
                .provider("fake", model(() -> read("memo", Map.of("name", "memo"))))
                .build()) {
            worker.start();

            skill("pdf", "Reads PDFs");
            assertThat(turn("both", "docs")).endsWith("---\nDo.\n");
            skill("pdf", "' '");
            turn("invalid", "docs");
        }
        assertThat(requests.get(0).instructions()).contains(TOLD);
        assertThat(requests.get(2).instructions()).contains(TOLD.replace("- pdf: Reads PDFs\n", ""));
    }

    @Test
    void skill_thatBecameALink_isNotRead_unlessItsFolderIsNamed() throws Exception {
        file("docs", "skills: [skills]\n");
        file("one", "skills: [skills/pdf]\n");
        Step step = () -> {
            Path pdf = directory.resolve("skills/pdf");
            if (!Files.isSymbolicLink(pdf)) {
                Files.createSymbolicLink(pdf, Files.move(pdf, directory.resolve("elsewhere")));
            }
            return read("pdf", Map.of("name", "pdf"));
        };
        ModelProvider model = model(step);
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("skills")
                .agents(load(model))
                .provider("fake", model)
                .build()) {
            worker.start();

            assertThat(turn("linked", "docs")).contains("the folder of the skill is now a link");
            assertThat(turn("named", "one")).endsWith("---\nDo.\n");
        }
    }

    @Test
    void agentInJava_withoutItsSkills_isRefused() throws Exception {
        Agent docs = Agent.named("docs")
                .model("fake:any")
                .skills(directory.resolve("none"))
                .build();

        assertThatThrownBy(() -> AgentWorker.on(connection)
                        .agent(docs)
                        .provider("fake", model())
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("agent docs: skills: no such folder: " + directory.resolve("none"));
        assertThatThrownBy(() -> Agent.named("docs")
                        .model("fake:any")
                        .skills(Path.of("skills"))
                        .tools(ToolSpec.command("read_skill", "./read.sh").build())
                        .build())
                .hasMessage("agent docs: an agent with skills has a built-in tool read_skill; rename its own");
        assertThatThrownBy(() -> Agent.named("docs").model("fake:any").skills().build())
                .hasMessage("agent docs: skills: no folders given");
    }

    @Test
    void agentFile_skills_areCheckedAtTheirLine() throws Exception {
        skill("memo", "' '");
        file("docs", "skills:\n  - skills\n  - none\ntools: [{ name: read_skill, command: [x] }]\n");
        file("other", "tools: [{ name: read_skill, command: [x] }]\n");

        String prefix = directory.resolve("docs.yaml") + ":";
        assertThatThrownBy(() -> load(model()))
                .hasMessage(prefix + "3: skills[0]: " + directory.resolve("skills/memo/SKILL.md")
                        + ":3: description: is empty")
                .asInstanceOf(InstanceOfAssertFactories.type(AgentInvalid.class))
                .extracting(AgentInvalid::others, InstanceOfAssertFactories.list(String.class))
                .containsExactly(
                        prefix + "4: skills[1]: no such folder: " + directory.resolve("none"),
                        prefix + "5: tools[0]: duplicate tool name: read_skill");
        file("docs", "skills: [skills, skills/pdf]\n");
        skill("memo", "Memos");
        assertThatThrownBy(() -> load(model()))
                .hasMessageContaining(prefix + "2: skills[1]: skills/pdf and skills/pdf have the same name, pdf");
        file("docs", "skills: []\n");
        assertThatThrownBy(() -> load(model())).hasMessageContaining("2: skills: is empty");
    }

    /** The recorded form: an agent that was built again has its skills once, and another agent has no trace of them. */
    @Test
    void agent_isStoredWithItsSkills_andBuiltAgainWithThemOnce() throws Exception {
        file("docs", "skills: [skills/pdf]\nresults: {}\n");
        file("plain", "instructions: Be brief.\n");
        AgentSpec docs = load(model()).find("docs").orElseThrow();

        assertThat(docs.tools()).extracting(ToolSpec::name).containsExactly("read_result", "read_skill");
        assertThat(docs.with().maxTokens(docs.maxTokens()).build()).isEqualTo(docs);
        assertThat(docs.with().instructions("Be brief.").build().instructions().orElseThrow())
                .startsWith("Be brief.\n\n# Skills\n")
                .endsWith("\n- pdf: Reads PDFs\n");
        Skills.Skill pdf = docs.skills().orElseThrow().find("pdf").orElseThrow();
        String json = PayloadJson.MAPPER.writeValueAsString(docs);
        assertThat(json)
                .contains(
                        "\"kind\":\"skill\"",
                        "\"skills\":{\"folders\":[\"skills/pdf\"],\"found\":[{\"name\":\"pdf\","
                                + "\"description\":\"Reads PDFs\",\"folder\":\"skills/pdf\",\"digest\":\""
                                + pdf.digest()
                                + "\"}]}");
        assertThat(PayloadJson.MAPPER.readValue(json, AgentSpec.class)).isEqualTo(docs);
        assertThat(PayloadJson.MAPPER.writeValueAsString(
                        load(model()).find("plain").orElseThrow()))
                .doesNotContain("kill");
    }

    @Test
    void agent_whoseBuiltInToolsAreMarked_keepsTheMarksWhenItIsBuiltAgain() throws Exception {
        file("docs", "skills: [skills/pdf]\nresults: {}\n");
        AgentSpec docs = load(model()).find("docs").orElseThrow();

        AgentSpec marked = docs.with()
                .tools(docs.tools().stream()
                        .map(tool -> tool.with().judged().build())
                        .toList())
                .build();

        assertThat(marked.tools()).hasSize(2).allMatch(ToolSpec::judged);
    }

    @Test
    void agentFile_refusedForASkill_isUsedAsSoonAsTheSkillIsRepaired() throws Exception {
        file("docs", "instructions: Be brief.\n");
        AgentDirectory before = load(model());
        skill("pdf", "' '");
        file("docs", "skills: [skills/pdf]\n");
        List<AgentInvalid> problems = new CopyOnWriteArrayList<>();
        AgentDirectory refused = before.reread(problems::add);
        skill("pdf", "Reads PDFs");

        AgentDirectory repaired = refused.reread(problems::add);

        assertThat(problems).hasSize(1);
        assertThat(refused.find("docs").orElseThrow().skills()).isEmpty();
        assertThat(repaired.find("docs").orElseThrow().skills()).isPresent();
    }
}
