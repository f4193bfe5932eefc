package org.springframework.samples.petclinic.owner;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The page on which owners talk to the agent. */
@Controller
class ReceptionController {
    private final AgentClient client;

    ReceptionController(AgentClient client) {
        this.client = client;
    }

    @GetMapping("/reception/{thread}")
    String reply(@PathVariable("thread") String thread, Model model) {
        String reply = client.lists().exists(thread) ? text(client.turn(thread).await()) : "How can I help?";
        return page(thread, reply, model);
    }

    @PostMapping("/reception/{thread}")
    String say(@PathVariable("thread") String thread, @RequestParam("message") String message, Model model) {
        AgentResult result =
                client.run(Prompt.of("receptionist", message).withThread(thread)).await();
        return page(thread, text(result), model);
    }

    private static String page(String thread, String reply, Model model) {
        model.addAttribute("thread", thread);
        model.addAttribute("reply", reply);
        return "reception";
    }

    private static String text(AgentResult result) {
        return result instanceof AgentResult.Complete complete ? complete.text() : result.status();
    }
}
