package dev.waymark.worker.model.openai;

import dev.waymark.worker.model.http.WireCases;

/** Tests for both APIs of OpenAI, whose errors have the same format. */
abstract class OpenAiWireCases extends WireCases {
    @Override
    protected String errorBody(String type, String message) {
        return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"some_type\",\"param\":null,\"code\":\"" + type
                + "\"}}";
    }
}
