package dev.waymark.spring.shop;

import org.springframework.stereotype.Service;

/** Has nothing to do with agents, and cannot start in a test. */
@Service
class Warehouse {
    Warehouse() {
        throw new IllegalStateException("there is no warehouse");
    }
}
