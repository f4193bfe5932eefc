package dev.waymark.spring.shop;

import dev.waymark.worker.Agent;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@SpringBootApplication
public class Shop {

    @Configuration
    static class Agents {
        @Bean
        Agent clerk(Orders orders) {
            return Agent.named("clerk").model("shelf:any").tools(orders).build();
        }
    }
}
