/**
 * `evenkeel mcp`: a Model Context Protocol server, over stdin and stdout or over HTTP on this machine.
 *
 * Over stdio, stdout has nothing but the protocol; what a person should know goes to stderr. It ends with stdin.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { randomUuid, SystemRandom } from 'evenkeel/unstable/base'
import { oneNamespaceOption, type Command, type Invocation, type Io } from '../command.ts'
import { Failure } from '../failure.ts'
import { managerOptions } from '../managers.ts'
import type { McpHost } from '../mcp/mcp-host.ts'
import { countOf } from '../parse.ts'
import { safeLine } from '../terminal.ts'
import { readVersion } from '../version.ts'

const portPreset = 8710

export const mcp: Command = {
  name: 'mcp',
  about: 'serve objects, logs and actions to AI assistants (Model Context Protocol)',
  options: {
    namespace: {
      ...oneNamespaceOption['namespace'],
      type: 'string',
      about: 'read and change objects of this namespace only',
    },
    'allow-writes': { type: 'boolean', about: 'offer tools that change objects and run actions' },
    'show-secrets': { type: 'boolean', about: 'do not mask the values of Secrets' },
    'max-bytes': { type: 'string', value: 'NUMBER', about: 'how large a result may be (default: 40000)' },
    http: { type: 'boolean', about: 'over HTTP on this machine instead of stdin and stdout' },
    port: { type: 'string', value: 'NUMBER', about: `with --http: the port (default: ${portPreset}; 0: any free one)` },
    'token-file': {
      type: 'string',
      value: 'FILE',
      about: 'with --http: the file of the token; created if it does not exist',
    },
    ...managerOptions,
  },
  details:
    'Read-only unless --allow-writes. The permissions are those of the kubeconfig. Over HTTP a client sends Authorization: Bearer TOKEN; without --token-file the token is new with every start.',
  examples: [
    'evenkeel mcp',
    'evenkeel mcp --namespace shop --allow-writes',
    'evenkeel mcp --http --port 8710 --token-file mcp-token',
  ],
  async run(call) {
    const { io, values } = call
    const stop = new AbortController()
    const signal = AbortSignal.any([io.signal, stop.signal])
    const host = await hostOf(call)
    const watching = host.run(signal)
    try {
      if (values.flag('http')) await overHttp(host, signal, call)
      else await (await import('../mcp/stdio-endpoint.ts')).serveStdio(host, signal, io)
    } finally {
      stop.abort(new Error('the server ends'))
      await watching
    }
    return 0
  },
}

async function hostOf(call: Invocation): Promise<McpHost> {
  const { values, io } = call
  // Other commands need not load the protocol.
  const [{ McpHost }, { Scope }] = await Promise.all([import('../mcp/mcp-host.ts'), import('../mcp/scope.ts')])
  const scope = new Scope({
    connect: () => call.connect({ warnings: false }),
    values,
    cwd: io.cwd,
    env: io.env,
    clock: io.clock,
    namespace: values.text('namespace'),
    showSecrets: values.flag('show-secrets'),
  })
  const bytes = values.text('max-bytes')
  return new McpHost(scope, {
    version: await readVersion(),
    allowWrites: values.flag('allow-writes'),
    ...(bytes !== undefined && { bytesMax: Math.max(bytesMin, countOf('max-bytes', bytes)) }),
    log: logTo(io),
  })
}

/** Less than that has no room for an answer. */
const bytesMin = 1000

function logTo({ stderr }: Pick<Io, 'stderr'>): (text: string) => void {
  return (text) => {
    stderr.write(`evenkeel mcp: ${safeLine(text)}\n`)
  }
}

async function overHttp(host: McpHost, signal: AbortSignal, { values, io, json }: Invocation): Promise<void> {
  const { serveHttp } = await import('../mcp/http-endpoint.ts')
  const file = values.text('token-file')
  const token = file === undefined ? newToken() : await tokenOf(resolve(io.cwd, file))
  await serveHttp(host, signal, {
    port: portOf(values.text('port') ?? String(portPreset)),
    token,
    log: logTo(io),
    onListening: (url) => {
      if (json)
        io.stdout.write(`${JSON.stringify({ url, ...(file === undefined ? { token } : { tokenFile: file }) })}\n`)
      else io.stdout.write(`MCP server: ${url}\nToken: ${file === undefined ? token : `in ${file}`}\n`)
    },
  })
}

/** @throws {Failure} `usage` */
function portOf(text: string): number {
  const port = text === '0' ? 0 : countOf('port', text)
  if (port <= 65_535) return port
  throw new Failure('usage', `--port must be at most 65535, got ${text}`, { hint: `--port ${portPreset}` })
}

function newToken(): string {
  const random = new SystemRandom()
  return `${randomUuid(random)}${randomUuid(random)}`.replaceAll('-', '')
}

/** The token of a file that only its owner can read; a new file if there is none. @throws {Failure} `bad-file` */
async function tokenOf(path: string): Promise<string> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
  const file = await open(path, flags, 0o600)
  try {
    const { mode } = await file.stat()
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new Failure('bad-file', `${path} can be read by other users`, { hint: `chmod 600 ${path}` })
    const text = (await file.readFile('utf8')).trim()
    if (/^\S{16,}$/.test(text)) return text
    if (text !== '')
      throw new Failure('bad-file', `${path} is not the file of a token: it needs one word of 16 characters or more`)
    const token = newToken()
    await file.write(`${token}\n`)
    return token
  } finally {
    await file.close()
  }
}
