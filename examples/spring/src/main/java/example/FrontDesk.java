package example;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Each guest has one conversation: the thread with the guest's name as its id. */
@RestController
class FrontDesk {
    private final AgentClient client;
    private final Bookings bookings;

    FrontDesk(AgentClient client, Bookings bookings) {
        this.client = client;
        this.bookings = bookings;
    }

    @PostMapping("/guests/{guest}")
    String say(@PathVariable("guest") String guest, @RequestBody String message) {
        return words(client.run(Prompt.of("host", message).withThread(guest)).await());
    }

    /** Waits for the end of the current turn. Safe to repeat, because it starts nothing. */
    @GetMapping("/guests/{guest}")
    String reply(@PathVariable("guest") String guest) {
        return words(client.turn(guest).await());
    }

    @GetMapping("/bookings/{date}")
    List<String> bookings(@PathVariable("date") String date) {
        return bookings.guests(new Bookings.Visit(date));
    }

    private static String words(AgentResult result) {
        return result instanceof AgentResult.Complete complete ? complete.text() + "\n" : result.status() + "\n";
    }
}
