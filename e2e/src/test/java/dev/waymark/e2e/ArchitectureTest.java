package dev.waymark.e2e;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.temporal.api.history.v1.HistoryEvent;

/** Checks that modules and packages have no forbidden dependencies. */
@AnalyzeClasses(packages = "dev.waymark", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String CONVERSATION = "dev.waymark.conversation..";
    private static final String RULE = "dev.waymark.conversation.rule";
    private static final String STATE = "dev.waymark.conversation.state";
    private static final String HISTORY = "dev.waymark.history..";
    private static final String CHECKPOINT = "dev.waymark.checkpoint..";
    private static final String CONTRACT = "dev.waymark.contract..";
    private static final String SAVER = "dev.waymark.saver..";
    private static final String WORKER = "dev.waymark.worker..";
    private static final String REHEARSAL = "dev.waymark.rehearsal..";
    private static final String WORKFLOW = "dev.waymark.worker.workflow..";
    private static final String CLIENT = "dev.waymark.client..";
    private static final String SERVER = "dev.waymark.server..";
    private static final String STARTER = "dev.waymark.starter..";
    private static final String CLI = "dev.waymark.cli..";
    private static final String TESTKIT = "dev.waymark.testkit..";
    private static final String FIXTURES = "dev.waymark.fixtures..";
    private static final String BENCH = "dev.waymark.bench..";
    private static final String SPRING = "dev.waymark.spring..";
    private static final String TIMELINE = "dev.waymark.timeline..";

    @ArchTest
    static final ArchRule shared_knows_no_other_module = noClasses()
            .that(resideInAPackage("dev.waymark..")
                    .and(not(resideInAnyPackage(
                            WORKER, REHEARSAL, CLIENT, SERVER, STARTER, CLI, TESTKIT, FIXTURES, BENCH, SPRING))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(WORKER, REHEARSAL, CLIENT, SERVER, STARTER, CLI, TESTKIT, FIXTURES, BENCH, SPRING);

    @ArchTest
    static final ArchRule worker_knows_neither_clients_nor_tests = noClasses()
            .that()
            .resideInAPackage(WORKER)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(REHEARSAL, CLIENT, SERVER, STARTER, TESTKIT, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule rehearsal_knows_only_the_worker_and_shared = noClasses()
            .that()
            .resideInAPackage(REHEARSAL)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CLIENT, SERVER, STARTER, TESTKIT, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule client_knows_no_other_program = noClasses()
            .that()
            .resideInAPackage(CLIENT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(WORKER, REHEARSAL, SERVER, STARTER, TESTKIT, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule only_the_program_has_a_terminal_a_log_and_drivers = noClasses()
            .that(resideInAPackage("dev.waymark..").and(not(resideInAnyPackage(STARTER, CLI, BENCH))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    CLI,
                    "picocli..",
                    "org.jline..",
                    "ch.qos.logback..",
                    "io.micrometer.prometheusmetrics..",
                    "org.sqlite..",
                    "org.postgresql..");

    @ArchTest
    static final ArchRule server_knows_no_worker = noClasses()
            .that()
            .resideInAPackage(SERVER)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(WORKER, REHEARSAL, STARTER, TESTKIT, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule only_one_package_knows_the_http_server = noClasses()
            .that()
            .resideOutsideOfPackage("dev.waymark.server.http..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.jetty..");

    @ArchTest
    static final ArchRule starter_knows_no_tests = noClasses()
            .that()
            .resideInAnyPackage(STARTER, CLI)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(TESTKIT, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule only_commands_that_run_agents_know_the_worker = noClasses()
            .that(resideInAPackage(STARTER)
                    .and(not(resideInAnyPackage("dev.waymark.starter", "dev.waymark.starter.worker"))))
            .should()
            .dependOnClassesThat(resideInAnyPackage(WORKER, REHEARSAL).and(not(simpleName("AgentInvalid"))));

    @ArchTest
    static final ArchRule spring_stays_in_its_module = noClasses()
            .that()
            .resideOutsideOfPackage(SPRING)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SPRING, "org.springframework..");

    @ArchTest
    static final ArchRule spring_knows_neither_the_program_nor_tests = noClasses()
            .that()
            .resideInAPackage(SPRING)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(REHEARSAL, SERVER, STARTER, TESTKIT, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule testkit_knows_only_shared = noClasses()
            .that()
            .resideInAPackage(TESTKIT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(WORKER, REHEARSAL, CLIENT, SERVER, STARTER, FIXTURES, BENCH);

    @ArchTest
    static final ArchRule fixtures_know_only_the_testkit_and_shared = noClasses()
            .that()
            .resideInAPackage(FIXTURES)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(WORKER, REHEARSAL, CLIENT, SERVER, STARTER, BENCH);

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching("dev.waymark.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule conversation_knows_only_the_jdk_and_annotations = classes()
            .that()
            .resideInAPackage(CONVERSATION)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    CONVERSATION,
                    "dev.waymark.annotation..",
                    "java..",
                    "com.fasterxml.jackson.annotation..",
                    "org.jspecify..");

    @ArchTest
    static final ArchRule only_rules_change_the_state = noClasses()
            .that()
            .resideOutsideOfPackages(RULE, STATE)
            .should()
            .dependOnClassesThat(resideInAPackage(STATE).and(simpleName("Edit")));

    /** Other packages use only {@code Rules} and {@code Restoration}. */
    @ArchTest
    static final ArchRule rules_are_used_through_two_classes = noClasses()
            .that()
            .resideOutsideOfPackage(RULE)
            .should()
            .dependOnClassesThat(
                    resideInAPackage(RULE).and(not(simpleName("Rules").or(simpleName("Restoration")))));

    @ArchTest
    static final ArchRule few_know_the_rules = noClasses()
            .that()
            .resideOutsideOfPackages(RULE, CHECKPOINT, HISTORY, CLIENT, WORKER, REHEARSAL, FIXTURES, BENCH)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(RULE);

    @ArchTest
    static final ArchRule rules_stand_on_the_state_and_the_state_on_its_parts = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage(CONVERSATION)
            .layer("rule")
            .definedBy(RULE)
            .layer("conversation")
            .definedBy("dev.waymark.conversation")
            .layer("state")
            .definedBy(STATE)
            .layer("fact")
            .definedBy("dev.waymark.conversation.fact")
            .layer("call")
            .definedBy("dev.waymark.conversation.call")
            .layer("decision")
            .definedBy("dev.waymark.conversation.decision")
            .layer("message")
            .definedBy("dev.waymark.conversation.message")
            .layer("policy")
            .definedBy("dev.waymark.conversation.policy")
            .whereLayer("rule")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("conversation")
            .mayOnlyBeAccessedByLayers("rule")
            .whereLayer("state")
            .mayOnlyBeAccessedByLayers("rule", "conversation")
            .whereLayer("fact")
            .mayOnlyBeAccessedByLayers("rule", "conversation")
            .whereLayer("call")
            .mayOnlyBeAccessedByLayers("rule", "conversation", "state", "fact")
            .whereLayer("decision")
            .mayOnlyBeAccessedByLayers("rule", "conversation", "state", "fact", "call")
            .whereLayer("message")
            .mayOnlyBeAccessedByLayers("rule", "conversation", "state", "fact", "call")
            .whereLayer("policy")
            .mayOnlyBeAccessedByLayers("rule", "conversation", "state", "fact", "call");

    @ArchTest
    static final ArchRule conversation_touches_no_world = noClasses()
            .that()
            .resideInAPackage(CONVERSATION)
            .should()
            .accessTargetWhere(call("java\\.(io|net|nio\\.(file|channels)|util\\.(concurrent|Random|Timer))\\b.*", ".*")
                    .or(call("java\\.time\\..*", "now"))
                    .or(call("java\\.util\\.UUID", "randomUUID"))
                    .or(call("java\\.lang\\.(Thread|Process.*|Runtime)", ".*"))
                    .or(call("java\\.lang\\.System", "currentTimeMillis|nanoTime|getenv|getProperty|exit|out|err|in"))
                    .or(call("java\\.lang\\.Math", "random")))
            .because("the same facts must give the same state, wherever and whenever they are folded");

    @ArchTest
    static final ArchRule checkpoint_knows_conversation_and_timelines_only = noClasses()
            .that()
            .resideInAPackage(CHECKPOINT)
            .should()
            .dependOnClassesThat(
                    resideInAPackage("dev.waymark..").and(not(resideInAnyPackage(CHECKPOINT, CONVERSATION, TIMELINE))))
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("io.temporal..");

    @ArchTest
    static final ArchRule saver_knows_conversation_only = noClasses()
            .that()
            .resideInAPackage(SAVER)
            .should()
            .dependOnClassesThat(resideInAPackage("dev.waymark..").and(not(resideInAnyPackage(SAVER, CONVERSATION))))
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("io.temporal..");

    @ArchTest
    static final ArchRule contract_never_sees_history =
            noClasses().that().resideInAPackage(CONTRACT).should().dependOnClassesThat(resideInAPackage(HISTORY));

    @ArchTest
    static final ArchRule only_history_reads_events = noClasses()
            .that()
            .resideOutsideOfPackage(HISTORY)
            .should()
            .dependOnClassesThat()
            .areAssignableTo(HistoryEvent.class);

    @ArchTest
    static final ArchRule replayed_code_iterates_in_a_fixed_order = noClasses()
            .that()
            .resideInAnyPackage(CONVERSATION, WORKFLOW)
            .should()
            .accessTargetWhere(call("java\\.util\\.(Map|Set)", "of|ofEntries|copyOf")
                    .or(call("java\\.util\\.(HashMap|HashSet|IdentityHashMap|WeakHashMap|Hashtable)", ".*"))
                    .or(call("java\\.util\\.concurrent\\.Concurrent(HashMap|HashMap\\$.*)", ".*"))
                    .or(call(
                            "java\\.util\\.stream\\.Collectors",
                            "to(Unmodifiable)?(Set|Map)|groupingBy|partitioningBy")))
            .because("Map.of, Set.copyOf and their like iterate differently in every JVM, so a replay would differ");

    /** Matches calls, method references and field accesses. */
    private static DescribedPredicate<JavaAccess<?>> call(String owner, String member) {
        return DescribedPredicate.describe(
                owner + "." + member,
                access -> nameMatching(owner).test(access.getTargetOwner())
                        && access.getTarget().getName().matches(member));
    }
}
