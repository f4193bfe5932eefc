package dev.waymark.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaContext;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.keyword.Keyword;
import com.networknt.schema.keyword.KeywordValidator;
import com.networknt.schema.path.NodePath;
import java.util.Objects;

/**
 * A keyword that applies to arrays only. The library applies {@code uniqueItems} to the values of objects too, which
 * JSON Schema does not.
 */
record ArrayKeyword(Keyword keyword) implements Keyword {
    private static final String UNIQUE_ITEMS = "uniqueItems";

    /** JSON Schema 2020-12. */
    static Dialect dialect() {
        Dialect library = Dialects.getDraft202012();
        return Dialect.builder(library)
                .keyword(new ArrayKeyword(
                        Objects.requireNonNull(library.getKeywords().get(UNIQUE_ITEMS))))
                .build();
    }

    @Override
    public String getValue() {
        return keyword.getValue();
    }

    @Override
    public KeywordValidator newValidator(SchemaLocation location, JsonNode schema, Schema parent, SchemaContext context)
            throws Exception {
        return new OfArrays(keyword.newValidator(location, schema, parent, context));
    }

    private record OfArrays(KeywordValidator validator) implements KeywordValidator {
        @Override
        public String getKeyword() {
            return validator.getKeyword();
        }

        @Override
        public SchemaLocation getSchemaLocation() {
            return validator.getSchemaLocation();
        }

        @Override
        public void preloadSchema() {
            validator.preloadSchema();
        }

        @Override
        public void validate(ExecutionContext context, JsonNode node, JsonNode root, NodePath place) {
            if (node.isArray()) {
                validator.validate(context, node, root, place);
            }
        }
    }
}
