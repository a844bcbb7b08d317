import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineKind } from 'evenkeel'
import { Client } from 'evenkeel/client'
import { openDataPlane, readLogOptions, type StreamHandler } from 'evenkeel/server'
import { SimulatedClock } from 'evenkeel/unstable/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lamp, TestCli, typed, type Said } from '../fixtures/cli.fixture.ts'

function eventOf(
  name: string,
  { count = 1, time = '2026-01-01T00:00:00Z', message = 'a moth\u001b[2J came', round = 'a' } = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default', labels: { round } },
    involvedObject: { apiVersion: 'test.dev/v1', kind: 'Lamp', name: 'desk', namespace: 'default' },
    type: 'Warning',
    reason: 'Moth',
    message,
    count,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component: 'night' },
  }
}

describe('logs of an object without output', () => {
  let cli: TestCli
  beforeAll(async () => {
    cli = await TestCli.start()
    await cli.apply(lamp('desk'))
    await cli.apply(eventOf('second', { time: '2026-01-01T00:00:02Z', message: 'second' }))
    await cli.apply(eventOf('first', { time: '2026-01-01T00:00:01Z', message: 'first' }))
  })
  afterAll(() => cli.stop())

  test('F16: prints the events, oldest first; --tail and --since select', async () => {
    const clock = new SimulatedClock({ startMs: 1_767_225_661_000 })
    expect((await cli.type(['logs', 'lamp/desk'])).out).toBe(
      '2026-01-01T00:00:01Z W night Moth: first\n2026-01-01T00:00:02Z W night Moth: second\n',
    )
    expect((await cli.type(['logs', 'lamp/desk', '--tail', '1'])).out).toMatch(/^[^\n]*second\n$/)
    expect((await cli.type(['logs', 'lamp/desk', '--since', '59s'], { clock })).out).toMatch(/^[^\n]*second\n$/)
    expect((await cli.type(['logs', 'lamp/desk', '--tail', '0'])).out).toBe('')
  })

  test('F16: -f prints new events and events that happen again, each once, until Ctrl-C', async () => {
    const stop = new AbortController()
    let text = ''
    const following = cli.type(['logs', 'lamp/desk', '-f', '--tail', '0', '--json'], {
      signal: stop.signal,
      onOut: (piece) => {
        text += piece
        if (/"count":3/.test(text)) stop.abort()
      },
    })
    for (let count = 1; !stop.signal.aborted && count < 100; count++)
      // A change of something else is no news.
      for (const round of ['a', 'b']) await cli.apply(eventOf('moth', { count: Math.min(count, 3), round }))
    const { code } = await following
    expect(code).toBe(0)
    const counts = text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { count: number }).count)
    expect(counts).toEqual([...new Set(counts)])
    expect(counts.at(-1)).toBe(3)
  })

  test('F16: an event never controls the terminal', async () => {
    await cli.apply(eventOf('evil'))
    expect((await cli.type(['logs', 'lamp/desk'])).out).toContain('Moth: a moth·[2J came\n')
  })
})

/** A server with one kind, Pod, that has output. */
class LogServer {
  readonly #server: Server
  readonly requests: string[] = []
  /** Ends the followed output. */
  finish: () => void = () => undefined

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response)
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve)
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const documents: Readonly<Record<string, object>> = {
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/apis': { kind: 'APIGroupList', groups: [] },
      '/api/v1': {
        kind: 'APIResourceList',
        groupVersion: 'v1',
        resources: [
          { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] },
          { name: 'pods/log', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get'] },
        ],
      },
      '/api/v1/namespaces/default/pods/web': {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', namespace: 'default' },
      },
    }
    const [path = ''] = url.split('?')
    if (path.endsWith('/log')) this.#sendLog(url, response)
    else {
      response.writeHead(documents[path] ? 200 : 404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(documents[path] ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }),
      )
    }
  }

  #sendLog(url: string, response: ServerResponse): void {
    this.requests.push(url)
    response.writeHead(200, { 'content-type': 'text/plain' })
    if (!url.includes('follow=true')) {
      response.end('one\ntwo \u001b[2J\n')
      return
    }
    const bytes = Buffer.from('eins\nzwei ü')
    // A piece may end inside a character.
    response.write(bytes.subarray(0, bytes.length - 1))
    this.finish = () => {
      response.end(Buffer.concat([bytes.subarray(bytes.length - 1), Buffer.from('\r\nthe \u0007end')]))
    }
  }
}

describe('logs of an object with output', () => {
  const server = new LogServer()
  let cwd = ''
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'evenkeel-logs-'))
    const url = await server.listen()
    await writeFile(
      join(cwd, 'kubeconfig'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'a',
        clusters: [{ name: 'a', cluster: { server: url } }],
        users: [{ name: 'a', user: {} }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      }),
    )
  })
  afterAll(async () => {
    server.close()
    await rm(cwd, { recursive: true, force: true })
  })

  function logs(words: readonly string[], onOut?: (text: string) => void): Promise<Said> {
    return typed(['logs', 'pod/web', '--kubeconfig', 'kubeconfig', ...words], { cwd, ...(onOut && { onOut }) })
  }

  test('F16: reads the log subresource with the names of Kubernetes', async () => {
    const words = ['--tail', '5', '--since', '2m', '--timestamps', '-c', 'main', '--previous']
    expect(await logs(words)).toEqual({ code: 0, out: 'one\ntwo ·[2J\n', err: '' })
    expect(Object.fromEntries(new URL(`http://a${server.requests.at(-1) ?? ''}`).searchParams)).toEqual({
      tailLines: '5',
      sinceSeconds: '120',
      timestamps: 'true',
      container: 'main',
      previous: 'true',
    })
    expect(JSON.parse((await logs(['--json'])).out)).toEqual({ log: 'one\ntwo \u001b[2J\n' })
  })

  test('F16: -f prints lines as they come, until the output ends', async () => {
    let first = ''
    const said = await logs(['-f'], (text) => {
      if (first === '') {
        first = text
        server.finish()
      }
    })
    expect(first).toBe('eins\n')
    expect(said).toEqual({ code: 0, out: 'eins\nzwei ü\nthe ·end\n', err: '' })
    const lines = await logs(['-f', '--json'], () => {
      server.finish()
    })
    expect(lines.out).toBe('{"log":"eins"}\n{"log":"zwei ü"}\n{"log":"the \\u0007end"}\n')
  })

  test('F16: -f ends with Ctrl-C', async () => {
    const stop = new AbortController()
    const said = await typed(['logs', 'pod/web', '--kubeconfig', 'kubeconfig', '-f'], {
      cwd,
      signal: stop.signal,
      onOut: () => {
        stop.abort()
      },
    })
    expect(said).toMatchObject({ code: 0, out: 'eins\n' })
  })
})

describe('logs of a custom kind with the subresource log', () => {
  const Website = defineKind({
    group: 'test.dev',
    version: 'v1',
    kind: 'Website',
    spec: { type: 'object', properties: { image: { type: 'string' } } },
  })
  let cwd = ''
  let plane: Awaited<ReturnType<typeof openDataPlane>>
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'evenkeel-logs-'))
    const log: StreamHandler = async function (request) {
      const { follow, tailLines } = readLogOptions(request.query)
      const lines = async function* (): AsyncGenerator<Uint8Array, void> {
        yield Buffer.from(tailLines === 1 ? 'two\n' : 'one\ntwo\n')
        if (!follow) return
        for await (const { spec } of request.changes())
          yield Buffer.from(`image ${(spec as { image: string }).image}\n`)
      }
      return { body: lines() }
    }
    plane = await openDataPlane({
      folder: join(cwd, 'data'),
      memory: true,
      controllers: false,
      kinds: [Website],
      customResources: [{ kind: Website, streams: { log } }],
    })
    const client = new Client({ transport: plane.plane.transport })
    await client.create(Website, { metadata: { name: 'home', namespace: 'default' }, spec: { image: 'a' } })
  })
  afterAll(async () => {
    await plane.stop()
    await rm(cwd, { recursive: true, force: true })
  })

  test('F16: prints the output, and with -f what comes until the object is deleted', async () => {
    const words = ['logs', 'website/home', '--kubeconfig', plane.kubeconfig]
    expect(await typed(words, { cwd })).toEqual({ code: 0, out: 'one\ntwo\n', err: '' })
    expect((await typed([...words, '--tail', '1'], { cwd })).out).toBe('two\n')
    const client = new Client({ transport: plane.plane.transport })
    const home = await client.get(Website, { name: 'home', namespace: 'default' })
    const said = await typed([...words, '-f'], {
      cwd,
      onOut: (text) => {
        if (text === 'two\n') void client.patch(home, { spec: { image: 'b' } })
        if (text === 'image b\n') void client.delete(home)
      },
    })
    expect(said).toEqual({ code: 0, out: 'one\ntwo\nimage b\n', err: '' })
  })
})

/** A server whose log has lines with positions, and breaks the connection after some of them. */
describe('logs of objects whose server knows positions', () => {
  const Chore = defineKind({
    group: 'test.dev',
    version: 'v1',
    kind: 'Chore',
    spec: { type: 'object', properties: {} },
  })
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
  const requests: string[] = []
  let printed = ''
  let onPrint: () => void = () => undefined
  let cwd = ''
  let plane: Awaited<ReturnType<typeof openDataPlane>>

  /** Sends the lines after a position; breaks in the middle of a line, three lines further on each time. */
  const log: StreamHandler = ({ object, query, changes }) => {
    requests.push(query.toString())
    const first = Number(query.get('after')?.split(':')[1] ?? 0)
    const isFollowed = query.get('follow') === 'true'
    const body = async function* (): AsyncGenerator<Uint8Array, void> {
      if (query.get('positions') === 'true') yield Buffer.from(`positions: 1:${first}\n`)
      const { name = '' } = object.metadata
      for (let at = first; at < lines.length; at++) {
        const line = `${query.get('positions') === 'true' ? `1:${at + 1} ` : ''}${name} ${lines[at]}\n`
        if (isFollowed && at === first + 3) {
          yield Buffer.from(line.slice(0, -4))
          // What is on its way to a socket that is closed would be lost.
          await untilPrinted(`${name} ${lines[at - 1]}\n`)
          throw new Error('the connection breaks')
        }
        yield Buffer.from(line)
      }
      if (isFollowed) for await (const _ of changes()) continue
    }
    return { body: body() }
  }

  const untilPrinted = async (text: string): Promise<void> => {
    while (!printed.includes(text))
      await new Promise<void>((resolve) => {
        onPrint = resolve
      })
  }

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'evenkeel-logs-'))
    plane = await openDataPlane({
      folder: join(cwd, 'data'),
      memory: true,
      controllers: false,
      kinds: [Chore],
      customResources: [{ kind: Chore, streams: { log } }],
    })
    const client = new Client({ transport: plane.plane.transport })
    for (const name of ['a', 'long-name'])
      await client.create(Chore, { metadata: { name, namespace: 'default', labels: { app: name } }, spec: {} })
  })
  afterAll(async () => {
    await plane.stop()
    await rm(cwd, { recursive: true, force: true })
  })

  const type = (words: readonly string[], options: Partial<Parameters<typeof typed>[1]> = {}) =>
    typed(['logs', ...words, '--kubeconfig', plane.kubeconfig], { cwd, ...options })

  test('-f over broken connections: no line is lost, none is printed twice; it ends with the object', async () => {
    const client = new Client({ transport: plane.plane.transport })
    const key = { name: 'b', namespace: 'default' }
    await client.create(Chore, { metadata: key, spec: {} })
    const said = await type(['chore/b', '-f', '--tail', '100'], {
      onOut: (text) => {
        printed += text
        onPrint()
        if (text.includes('line 39')) void client.get(Chore, key).then((chore) => client.delete(chore))
      },
    })
    expect(said.out).toBe(lines.map((line) => `b ${line}\n`).join(''))
    expect(said.code).toBe(0)
    expect(said.err).toContain('chore/b: the connection broke; waiting for the server\n')
    expect(requests[0]).toBe('follow=true&tailLines=100&positions=true')
    expect(requests.at(-1)).toMatch(/^follow=true&positions=true&after=1%3A\d+$/)
  }, 60_000)

  test('several objects: each line begins with the name of its object, in a colour on a terminal', async () => {
    const all = await type(['chore', '--all', '--tail', '1', '--grep', 'line 39'])
    expect(all.out).toBe('a         | a line 39\nlong-name | long-name line 39\n')
    const named = await type(['chore/a', 'chore/long-name', '--grep', 'line 1', '--json'])
    expect(named.out.split('\n')[0]).toBe('{"object":"chore/a","log":"a line 1"}')
    const colored = await type(['chore', '-l', 'app in (a, long-name)', '--grep', 'line 39'], { columns: 80 })
    expect(colored.out).toBe(
      '\u001b[36ma         |\u001b[0m a line 39\n\u001b[33mlong-name |\u001b[0m long-name line 39\n',
    )
    const plain = await type(['chore', '--all', '--grep', 'line 39'], { columns: 80, env: { NO_COLOR: '1' } })
    expect(plain.out).toBe(all.out)
    expect((await type(['chore', '-l', 'app=a', '--grep', 'line 39'])).out).toBe('a line 39\n')
  })

  test('--run, --source and --previous are asked for; bad words are refused', async () => {
    requests.length = 0
    await type(['chore/a', '--run', '2', '--source', 'stderr', '--previous', '--timestamps'])
    expect(requests).toEqual(['timestamps=true&previous=true&source=stderr&run=2'])
    expect(await type(['chore/a', '--run', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--run must be') as string,
    })
    expect(await type(['chore', '-l', 'app=none'])).toMatchObject({
      err: expect.stringContaining('no object') as string,
    })
    expect(await type(['chore/a', '--all'])).toMatchObject({
      err: expect.stringContaining('either names or') as string,
    })
  })
})
