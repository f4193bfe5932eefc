package dev.waymark.spring.shop;

import dev.waymark.tool.ToolMethod;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Component;

@Component
public class Orders {
    private final List<String> placed = new CopyOnWriteArrayList<>();

    public record Order(String item) {}

    @ToolMethod(description = "Places an order")
    public String order(Order order) {
        placed.add(order.item());
        return "ordered " + order.item();
    }

    public List<String> placed() {
        return placed;
    }
}
