package example;

import dev.waymark.tool.ToolContext;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.VerifyResult;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Two tools: one only reads, the other has a side effect. */
@Component
public class Bookings {
    private final JdbcTemplate database;
    private final Duration printing;

    Bookings(JdbcTemplate database, @Value("${restaurant.printing:0s}") Duration printing) {
        this.database = database;
        this.printing = printing;
    }

    public record Visit(String date) {}

    public record Booking(String guest, String date) {}

    @ToolMethod(description = "The guests of a date, written YYYY-MM-DD", safeToRetry = true)
    public List<String> guests(Visit visit) {
        return database.queryForList("SELECT guest FROM booking WHERE visit = ?", String.class, visit.date());
    }

    @ToolMethod(
            description = "Books a table for a guest on a date, written YYYY-MM-DD",
            verify = "isBooked",
            honoursKey = true)
    public String book(Booking booking, ToolContext call) throws InterruptedException {
        database.update(
                "MERGE INTO booking (call_key, guest, visit) KEY (call_key) VALUES (?, ?, ?)",
                call.idempotencyKey(),
                booking.guest(),
                booking.date());
        Thread.sleep(printing.toMillis()); // Printing a card leaves time to kill the application.
        return "Booked for " + booking.guest() + " on " + booking.date();
    }

    /** Called if the application was killed in the middle of a booking. */
    public VerifyResult isBooked(Booking booking, ToolContext call) {
        Integer booked = database.queryForObject(
                "SELECT COUNT(*) FROM booking WHERE call_key = ?", Integer.class, call.idempotencyKey());
        return booked != null && booked > 0
                ? VerifyResult.landed("Booked for " + booking.guest() + " on " + booking.date())
                : VerifyResult.notLanded();
    }
}
