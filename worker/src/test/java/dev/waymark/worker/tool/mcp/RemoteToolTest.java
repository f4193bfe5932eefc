package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import org.junit.jupiter.api.Test;

class RemoteToolTest {
    private static RemoteTool tool(String listed) throws Exception {
        return RemoteTool.of(PayloadJson.MAPPER.readTree(listed.replace('\'', '"')));
    }

    @Test
    void digest_ofTheSameDefinitionInAnotherOrder_isTheSame() throws Exception {
        RemoteTool tool = tool("{'name':'pay','inputSchema':{'type':'object','properties':{'a':{},'b':{}}}}");

        assertThat(tool("{'inputSchema':{'properties':{'b':{},'a':{}},'type':'object'},'name':'pay'}")
                        .digest())
                .isEqualTo(tool.digest());
    }

    @Test
    void digest_ofAnotherDefinition_differs() throws Exception {
        RemoteTool tool = tool("{'name':'pay','description':'Pays','inputSchema':{'required':['a','b']}}");

        assertThat(tool("{'name':'pay','description':'Pays','inputSchema':{'required':['b','a']}}")
                        .digest())
                .isNotEqualTo(tool.digest());
        assertThat(tool("{'name':'pay','description':'Pays twice','inputSchema':{'required':['a','b']}}")
                        .digest())
                .isNotEqualTo(tool.digest());
    }
}
