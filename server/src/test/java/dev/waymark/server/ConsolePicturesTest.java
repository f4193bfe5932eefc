package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.server.http.HttpSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Recreates the screenshots of the README and the guide in a real browser: {@code mvn -pl server -am test
 * -Dtest=ConsolePicturesTest -Dsurefire.failIfNoSpecifiedTests=false -Dpictures=../docs/images}.
 */
@Tag("full")
class ConsolePicturesTest {
    private static final int LARGEST_BYTES = 150 * 1024;

    @TempDir
    private Path directory;

    @Test
    void screenshots_areRecreated() throws Exception {
        String wanted = System.getProperty("pictures", "");
        assumeTrue(!wanted.isEmpty(), "no -Dpictures=DIRECTORY");
        Path pictures = Path.of(wanted);
        writeAgents(Files.createDirectories(directory.resolve("agents")));
        try (ConsoleBrowser browser = ConsoleBrowser.start(pictures);
                ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            ApiServer server = threads.serveUnchecked(HttpSettings.at("127.0.0.1", 0));
            HttpCaller caller = HttpCaller.of(server, "").asNobody();
            caller.start("weather", "How is the weather in Lisbon and in Bergen?");
            caller.start("asker", "Book two seats for the concert");
            String trip = caller.start("planner", "Plan a short trip to a sunny place");
            String bill = caller.start("restaurant", "Please settle the bill of table nine");
            browser.run("await fresh({ viewport: { width: 1200, height: 680 } })");
            browser.run("await open('" + server.address() + "/#/thread/" + bill + "');"
                    + "await page.getByText('Runs with exactly').waitFor();"
                    + "await page.locator('.threads li').nth(3).waitFor();"
                    + "await page.locator('.threads a.waiting').nth(2).waitFor(); await picture('console-approval')");
            browser.run("await page.goto('" + server.address() + "/#/thread/" + trip + "');"
                    + "await page.getByText('Which day').first().waitFor();"
                    + "await page.getByRole('button', { name: 'Details' }).click();"
                    + "await page.locator('.tree ul .chip.complete').waitFor(); await picture('console-subagents')");
            browser.run("await page.getByLabel('Answer').fill('Friday'); await page.keyboard.press('Enter');"
                    + "await page.locator('.thread-header .chip.complete').waitFor();"
                    + "await page.getByRole('button', { name: 'Timeline' }).first().click();"
                    + "await page.locator('.changes .added').first().waitFor();"
                    + "await page.getByLabel('Earlier version').click();"
                    + "await page.getByText('Back to now').waitFor();"
                    + "await page.locator('.changes[aria-busy=false]').waitFor(); await picture('console-timeline')");
            browser.run("await fresh({ colorScheme: 'dark', viewport: { width: 390, height: 700 } })");
            browser.run("await open('" + server.address() + "/#/thread/" + bill + "');"
                    + "await page.getByText('Runs with exactly').waitFor(); await picture('console-phone')");
        }
        for (String name : new String[] {"approval", "subagents", "timeline", "phone"}) {
            assertThat(pictures.resolve("console-" + name + ".png"))
                    .satisfies(file -> assertThat(Files.size(file)).isLessThan(LARGEST_BYTES));
        }
    }

    private static void writeAgents(Path agents) throws Exception {
        Files.writeString(agents.resolve("restaurant.yaml"), """
                description: Settles bills, once somebody approves the charge
                model: scripted:restaurant.script.yaml
                pricing: { input: 3.0, output: 15.0 }
                tools:
                  - name: open_bill
                    description: Reads the open bill of a table
                    input: { type: object, properties: { table: { type: integer } } }
                    command: [echo, '{"table": 9, "items": ["soup", "fish", "wine"], "cents": 8400}']
                    safe_to_retry: true
                  - name: charge_card
                    description: Charges the card of a table
                    input: { type: object, properties: { table: { type: integer }, cents: { type: integer } } }
                    command: [cat]
                    approval: always
                """);
        Files.writeString(agents.resolve("restaurant.script.yaml"), """
                replies:
                  - text: I look up what is open.
                    tool_calls: [{ id: tu_1, name: open_bill, input: { table: 9 } }]
                    usage: { input_tokens: 812, output_tokens: 41 }
                  - text: That makes 84 euros. I charge the card as soon as you approve it.
                    tool_calls: [{ id: tu_2, name: charge_card, input: { table: 9, cents: 8400, currency: EUR } }]
                    usage: { input_tokens: 1104, output_tokens: 63 }
                  - text: The bill of table nine is settled.
                """);
        Files.writeString(agents.resolve("weather.yaml"), """
                description: Tells the weather
                model: scripted:weather.script.yaml
                pricing: { input: 3.0, output: 15.0 }
                tools:
                  - name: current_weather
                    description: The weather of a city
                    input: { type: object, properties: { city: { type: string } } }
                    command: [cat]
                    safe_to_retry: true
                """);
        Files.writeString(agents.resolve("weather.script.yaml"), """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: current_weather, input: { city: Lisbon } }
                      - { id: tu_2, name: current_weather, input: { city: Bergen } }
                    usage: { input_tokens: 640, output_tokens: 52 }
                  - text: Lisbon is sunny, 24 degrees. In Bergen it rains.
                    usage: { input_tokens: 790, output_tokens: 18 }
                """);
        Files.writeString(agents.resolve("planner.yaml"), """
                description: Plans trips, with the help of the weather agent
                model: scripted:planner.script.yaml
                budget: { usd: 0.05, tokens: 20000 }
                pricing: { input: 3.0, output: 15.0 }
                subagents: [weather]
                tools:
                  - use: ask_user
                """);
        Files.writeString(agents.resolve("planner.script.yaml"), """
                replies:
                  - text: I ask the weather agent where the sun shines, and you for the day.
                    tool_calls:
                      - { id: tu_1, name: weather, input: { task: Compare the weather in Lisbon and Bergen } }
                      - { id: tu_2, name: ask_user, input: { question: Which day do you want to travel? } }
                    usage: { input_tokens: 1580, output_tokens: 131 }
                  - text: "Lisbon it is, on {{tu_2}}. I keep the morning train in mind."
                    usage: { input_tokens: 2120, output_tokens: 64 }
                """);
    }
}
