package dev.waymark.spring.shop;

import org.springframework.stereotype.Service;

/** Unrelated to agents, and cannot start in a test. */
@Service
class Warehouse {
    Warehouse() {
        throw new IllegalStateException("there is no warehouse");
    }
}
