package dev.waymark.worker.tool.kind;

/** The current definition of a tool can't be found out, for example because its server is unreachable. */
public final class UnknownDefinitionException extends Exception {
    private static final long serialVersionUID = 1;

    public UnknownDefinitionException(String message) {
        super(message);
    }

    public UnknownDefinitionException(String message, Exception cause) {
        super(message, cause);
    }
}
