// A server with the official TypeScript SDK. Usage: server.mjs SDK stdio, or server.mjs SDK http PORT
// SDK is v1 (@modelcontextprotocol/sdk), with handshakes, or v2 (@modelcontextprotocol/server), of both eras.
import { createServer } from 'node:http'
import * as z from 'zod/v4'

const [sdk, kind, port] = process.argv.slice(2)
const sum = {
  description: 'Adds',
  inputSchema: sdk === 'v1' ? { a: z.number(), b: z.number() } : z.object({ a: z.number(), b: z.number() }),
}
const text = words => ({ content: [{ type: 'text', text: words }] })

async function v1() {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js')
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
  const server = new McpServer({ name: 'typescript-v1', version: '1' })
  server.registerTool('sum', sum, async ({ a, b }) => text(String(a + b)))
  await server.connect(new StdioServerTransport())
}

async function v2() {
  const { McpServer, acceptedContent, createMcpHandler, createRequestStateCodec, inputRequired } =
    await import('@modelcontextprotocol/server')
  const codec = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)), ttlSeconds: 600 })
  const build = ({ era }) => {
    const server = new McpServer({ name: 'typescript-v2', version: '1' }, { requestState: { verify: codec.verify } })
    server.registerTool('sum', sum, async ({ a, b }) => text(String(a + b)))
    server.registerTool('era', { inputSchema: z.object({}) }, async () => text(era))
    server.registerTool('deploy', { inputSchema: z.object({ place: z.string() }) }, async ({ place }, ctx) => {
      const form = z.object({ confirm: z.boolean().meta({ title: 'Confirm' }) })
      const confirmed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', form)
      if (!confirmed) {
        return inputRequired({
          inputRequests: { confirm: inputRequired.elicit({ message: `Deploy to ${place}?`, requestedSchema: form }) },
          requestState: await codec.mint({ place }),
        })
      }
      return text(`deployed to ${ctx.mcpReq.requestState().place}`)
    })
    return server
  }
  if (kind === 'stdio') {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    await serveStdio(build)
  } else {
    const { toNodeHandler } = await import('@modelcontextprotocol/node')
    createServer(toNodeHandler(createMcpHandler(build))).listen(Number(port), '127.0.0.1')
  }
}

await (sdk === 'v1' ? v1() : v2())
