// Reads a list of messages, and prints which of them the package accepts.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const accepts = ({ secret, body, headers }) => {
    try {
        new Webhook(secret).verify(body, headers);
        return true;
    } catch (e) {
        if (e.name !== "WebhookVerificationError" && e.constructor.name !== "WebhookVerificationError") throw e;
        return false;
    }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(accepts)));
