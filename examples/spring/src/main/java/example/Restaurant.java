package example;

import dev.waymark.worker.Agent;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Restaurant {
    public static void main(String[] arguments) {
        SpringApplication.run(Restaurant.class, arguments);
    }

    @Bean
    Agent host(Bookings bookings) {
        return Agent.named("host")
                .model("anthropic:claude-haiku-4-5")
                .instructions("You take bookings for a restaurant. Book only what the guest asks for.")
                .tools(bookings)
                .build();
    }
}
