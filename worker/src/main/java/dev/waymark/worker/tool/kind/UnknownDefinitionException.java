package dev.waymark.worker.tool.kind;

/** How a tool is defined now can't be found out, for example because its server can't be reached. */
public final class UnknownDefinitionException extends Exception {
    private static final long serialVersionUID = 1;

    public UnknownDefinitionException(String message) {
        super(message);
    }

    public UnknownDefinitionException(String message, Exception cause) {
        super(message, cause);
    }
}
