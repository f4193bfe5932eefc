// Calls an agent with the clients of the official TypeScript SDK, in both eras of the protocol.
// Usage: client.mjs SDK ERA SCENE http URL, or client.mjs SDK ERA SCENE stdio COMMAND...
// SDK is v1 (@modelcontextprotocol/sdk) or v2 (@modelcontextprotocol/client); ERA is legacy or modern.
const [sdk, era, scene, kind, ...target] = process.argv.slice(2)

const v1 = sdk === 'v1'
const { Client } = await import(v1 ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client')
const { StreamableHTTPClientTransport } = await import(
  v1 ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client')
const { StdioClientTransport } = await import(
  v1 ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio')

const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(target[0]))
  : new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env })

const asked = []
const forms = era === 'modern' ? { capabilities: { elicitation: {} } } : {}
const client = new Client({ name: 'test', version: '1' }, v1 ? forms : {
  ...forms, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
})
if (era === 'modern') {
  client.setRequestHandler('elicitation/create', async request => {
    asked.push(request.params.message)
    return { action: 'accept', content: { decision: 'approve' } }
  })
}
await client.connect(transport)

const call = (name, args) => client.callTool({ name, arguments: args })
const played = { tools: (await client.listTools()).tools.map(tool => tool.name) }
if (scene === 'talk') {
  played.result = await call('assistant', { message: 'Hi' })
} else {
  played.result = await call('billing', { message: 'Charge' })
}
played.asked = asked
console.log(JSON.stringify(played))
await client.close()
