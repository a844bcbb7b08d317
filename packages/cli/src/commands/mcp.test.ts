/**
 * `evenkeel mcp` over HTTP in this process, and over stdio in a process of its own.
 */
import { once } from 'node:events'
import { request } from 'node:http'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { SimulatedClock, SystemClock } from 'evenkeel/unstable/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lamp, TestCli, type Said } from '../fixtures/cli.fixture.ts'
import { calledTool } from '../fixtures/mcp.fixture.ts'
import { main } from '../main.ts'
import { isAlive } from '../fixtures/process.fixture.ts'

let cli: TestCli
beforeAll(async () => {
  cli = await TestCli.start()
  await cli.apply(lamp('desk'))
})
afterAll(() => cli.stop())

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

interface Listening {
  readonly url: string
  readonly token: string
  /** Ends the command. */
  stop(): Promise<Said>
}

/** The command over HTTP on a free port. */
async function listen(...words: readonly string[]): Promise<Listening> {
  const stop = new AbortController()
  let ended: Promise<Said> | undefined
  const line = await new Promise<string>((resolve, reject) => {
    ended = cli.type(['mcp', '--http', '--port', '0', '--json', ...words], { signal: stop.signal, onOut: resolve })
    ended.then(({ out, err }) => reject(new Error(`${out}${err}`)), reject)
  })
  const { url, token = '' } = JSON.parse(line) as { url: string; token?: string }
  return {
    url,
    token,
    stop: () => {
      stop.abort(new Error('the test is over'))
      return ended as Promise<Said>
    },
  }
}

/** The status of a request, with any headers: `fetch` forbids some. */
function statusOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'POST',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject)
    sent.end(method === 'POST' ? '{}' : undefined)
  })
}

async function connectHttp({ url, token }: Pick<Listening, 'url' | 'token'>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

describe('over HTTP', () => {
  test('serves clients that have the token, each with its own subscriptions', async () => {
    const server = await listen()
    const [one, two] = [await connectHttp(server), await connectHttp(server)]
    await one.listTools()
    const result = await one.callTool({ name: 'get', arguments: { kind: 'lamp', name: 'desk', path: '.spec.watts' } })
    expect(calledTool(result).data).toEqual({ values: [60] })
    const uri = 'evenkeel://namespaces/default/lamps.test.dev/desk'
    let strangers = 0
    two.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void strangers++)
    const updated = new Promise<string>((resolve) => {
      one.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri))
    })
    await one.subscribeResource({ uri })
    await cli.apply(lamp('desk', { watts: 61 }))
    expect(await updated).toBe(uri)
    await cli.apply(lamp('desk'))
    await two.ping()
    expect(strangers).toBe(0)
    await one.close()
    await two.close()
    expect(await server.stop()).toMatchObject({ code: 0 })
  })

  test('row 32: refuses requests without the token, from other hosts and from web pages', async () => {
    const { url, token, stop } = await listen()
    const authorization = `Bearer ${token}`
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    expect(await statusOf(url, json)).toBe(401)
    expect(await statusOf(url, { ...json, authorization: 'Bearer wrong' })).toBe(401)
    expect(await statusOf(url, { ...json, authorization: `Basic ${token}` })).toBe(401)
    expect(await statusOf(url, { ...json, authorization, host: 'evil.example.com' })).toBe(403)
    expect(await statusOf(url, { ...json, authorization, host: 'evil.example.com:80' })).toBe(403)
    expect(await statusOf(url, { ...json, authorization, origin: 'https://evil.example.com' })).toBe(403)
    expect(await statusOf(url.replace('/mcp', '/other'), { ...json, authorization })).toBe(404)
    expect(await statusOf(url, { ...json, authorization, 'mcp-session-id': 'gone' })).toBe(404)
    expect(await statusOf(url, { ...json, authorization })).toBe(400)
    expect(await statusOf(url, { ...json, authorization }, 'GET')).toBe(400)
    await stop()
  })

  test('ends the session that was silent longest when there are too many', async () => {
    const { url, token, stop } = await listen()
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const ids: string[] = []
    for (let count = 0; count < 33; count++) {
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(initialize) })
      await answer.text()
      ids.push(answer.headers.get('mcp-session-id') ?? '')
    }
    const ping = async (id = ''): Promise<number> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      const answer = await fetch(url, { method: 'POST', headers: { ...headers, 'mcp-session-id': id }, body })
      await answer.text()
      return answer.status
    }
    expect([await ping(ids[0]), await ping(ids[1]), await ping(ids[32])]).toEqual([404, 200, 200])
    await stop()
  })

  test('refuses a port that does not exist, or that is taken', async () => {
    const typed = await cli.type(['mcp', '--http', '--port', '70000'])
    expect(typed).toMatchObject({ code: 2, err: expect.stringContaining('--port must be at most 65535') as string })
    const { url, stop } = await listen()
    const taken = await cli.type(['mcp', '--http', '--port', new URL(url).port])
    expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('is in use') as string })
    await stop()
  })

  test('keeps the token in a file that only its owner can read', async () => {
    const file = join(cli.folder, 'mcp-token')
    const first = await listen('--token-file', 'mcp-token')
    expect(first.token).toBe('')
    const token = (await readFile(file, 'utf8')).trim()
    expect([(await stat(file)).mode & 0o777, token.length >= 32]).toEqual([0o600, true])
    await first.stop()
    const second = await listen('--token-file', 'mcp-token')
    expect((await readFile(file, 'utf8')).trim()).toBe(token)
    await (await connectHttp({ url: second.url, token })).close()
    await second.stop()
    await chmod(file, 0o644)
    const open = await cli.type(['mcp', '--http', '--port', '0', '--token-file', 'mcp-token'])
    expect(open).toMatchObject({ code: 2, err: expect.stringContaining('can be read by other users') as string })
    await writeFile(join(cli.folder, 'short'), 'word', { mode: 0o600 })
    const short = await cli.type(['mcp', '--http', '--port', '0', '--token-file', 'short'])
    expect(short).toMatchObject({ code: 2, err: expect.stringContaining('not the file of a token') as string })
  })
})

describe('over stdio', () => {
  const [runner = '', command = ''] = ['../../../../tools/run.mjs', '../fixtures/start.fixture.ts'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )

  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'kinds', arguments: { match: 'lamp' } } }

  test('answers what came before the end of stdin, and reports on stderr what is no message', async () => {
    // No time passes: the command ends because everything is answered.
    const stdin = `${JSON.stringify(initialize)}\nno message\n${JSON.stringify(call)}\n`
    const { code, out, err } = await cli.type(['mcp'], { stdin, clock: new SimulatedClock() })
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id)
    expect([code, answers]).toEqual([0, [1, 2]])
    expect(err).toMatch(/^evenkeel mcp: protocol: .*JSON/)
  })

  test('ends with a signal, while stdin is open', async () => {
    const stop = new AbortController()
    const stdin = (async function* () {
      yield Buffer.from(`${JSON.stringify(initialize)}\n`)
      await once(stop.signal, 'abort')
    })()
    const write = (): void => stop.abort(new Error('the test is over'))
    const stderr = { write: () => undefined }
    const own = { stdin, stdout: { write }, stderr, signal: stop.signal, cwd: cli.folder, env: { HOME: cli.folder } }
    expect(await main(['mcp'], { ...own, clock: new SystemClock() })).toBe(0)
  })

  test('serves a client in a process of its own, writes only the protocol, and ends with its stdin', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [runner, command, 'mcp', '--allow-writes'],
      cwd: cli.folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: cli.folder },
      stderr: 'pipe',
    })
    const errors: Error[] = []
    const client = new Client({ name: 'test', version: '1' })
    client.onerror = (error) => errors.push(error)
    let said = ''
    transport.stderr?.on('data', (piece: Buffer) => {
      said += piece.toString()
    })
    await client.connect(transport as Parameters<Client['connect']>[0])
    const pid = transport.pid ?? 0
    expect(client.getServerVersion()).toMatchObject({
      name: 'evenkeel',
      version: expect.stringMatching(/^\d+\./) as string,
    })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('do_lamp_blink')
    const result = await client.callTool({ name: 'why', arguments: { kind: 'lamp', name: 'desk' } })
    expect(calledTool(result).data).toHaveProperty('answers')
    await client.close()
    expect([errors, said, isAlive(pid)]).toEqual([[], '', false])
  })
})
