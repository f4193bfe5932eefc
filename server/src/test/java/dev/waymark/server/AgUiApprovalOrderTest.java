package dev.waymark.server;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The client of AG-UI, which answers all interrupts in one run. */
class AgUiApprovalOrderTest extends ApprovalOrderCases {
    @Override
    ChatPage page() throws Exception {
        return ChatPage.ofAgUi();
    }

    /** Only for AG-UI: the chat of the AI SDK keeps the first decision. */
    @Test
    void edit_thenDenied_isDenied() throws Exception {
        decisions_applyToTheirCalls(
                List.of(on("tu_2", EDIT), on("tu_2", DENY), press(ANSWER), on("tu_3", APPROVE)),
                "denied {\"cents\":9900}",
                "completed {\"cents\":5100}");
    }

    @Test
    void denial_thenEdited_runsEdited() throws Exception {
        decisions_applyToTheirCalls(
                List.of(on("tu_3", DENY), press(ANSWER), on("tu_3", EDIT), on("tu_2", DENY)),
                "denied {\"cents\":9900}",
                "completed {\"cents\":4200}");
    }
}
