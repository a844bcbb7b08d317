import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { deferred, SeededRandom, SimulatedClock } from '#base'
import { connect } from '#client'
import { startServer, type Server } from '#server'
import { FakeProcess, hostWith, kubeconfigOf } from './run.fixture.ts'
import { run, runControllers, type Ready, type RunProgramOptions } from './run.ts'
import { Note } from './world.fixture.ts'

type Options = Omit<RunProgramOptions, 'controllers'>

const kubeconfigPath = '/home/somebody/.kube/config'

/** Runs an echo of notes until `during` is done. */
async function running(options: Options, during: (ready: Ready) => Promise<void>): Promise<FakeProcess> {
  const [fake, ready] = [new FakeProcess(), deferred<Ready>()]
  const running = run({
    process: fake,
    host: hostWith({}),
    ...options,
    onReady: ready.resolve,
    controllers: [
      {
        for: Note,
        reconcile: (note, { status }) => {
          status.set({ text: note.spec.text ?? '' })
        },
      },
    ],
  })
  const isReady = await Promise.race([ready.promise, running.then(() => undefined)])
  if (isReady) await during(isReady)
  fake.emit('SIGTERM')
  await running
  return fake
}

/** Writes a note and waits for its echo. */
async function echoes({ manager: { client } }: Pick<Ready, 'manager'>, name: string): Promise<void> {
  await client.apply(
    Note,
    { metadata: { name, namespace: 'default' }, spec: { text: 'hello' } },
    { fieldManager: 'somebody' },
  )
  const watch = client.watch(Note, { namespace: 'default', fieldSelector: { 'metadata.name': name } })
  for await (const event of watch) {
    if ('object' in event && (event.object as { status?: { text?: string } }).status?.text === 'hello') return
  }
}

async function onServer(
  use: (cluster: { server: Server; host: Options['host'] & object }) => Promise<void>,
  options: Parameters<typeof startServer>[0] = {},
): Promise<void> {
  const server = await startServer({ listen: {}, ...options })
  try {
    const { url = '', token, caPem } = server.address ?? {}
    await use({ server, host: hostWith({ [kubeconfigPath]: kubeconfigOf({ server: url, token, caPem }) }) })
  } finally {
    await server.stop({ graceMs: 100 })
  }
}

describe('run without a cluster', () => {
  test('serves the streams of its kinds', async () => {
    const log = () => ({ body: 'hello\n' })
    await running(
      { embedded: true, serverThread: false, customResources: [{ kind: Note, streams: { log } }] },
      async (ready) => {
        await echoes(ready, 'a')
        const object = { apiVersion: Note.apiVersion, kind: Note.kind, metadata: { name: 'a', namespace: 'default' } }
        expect(await ready.manager.client.subresource('log').text(object)).toBe('hello\n')
      },
    )
  })

  test('it brings a server that kubectl can reach, and leaves nothing behind', async () => {
    const data = mkdtempSync(join(tmpdir(), 'evenkeel-test-'))
    const kubeconfig = join(data, 'kubeconfig')
    const fake = await running({ data, memory: true }, async (ready) => {
      expect(ready.embedded).toMatchObject({ kubeconfig, isDurable: false })
      expect(ready.kinds).toEqual([Note])
      await echoes(ready, 'a')
      const outside = await connect({ kubeconfig })
      expect((await outside.get(Note, { name: 'a', namespace: 'default' })).status).toMatchObject({ text: 'hello' })
      await outside.close()
    })
    expect(fake.out).toMatch(
      /^No cluster is configured: this program brings its own API server\.\nnote-controller runs on https:\/\/127\.0\.0\.1:\d+\n/,
    )
    expect(fake.out).toContain(`export KUBECONFIG=${kubeconfig}\n  kubectl get notes`)
    expect([fake.exitCode, fake.exits, fake.eventNames()]).toEqual([undefined, [], []])
    expect(existsSync(join(data, 'manager.json'))).toBe(false)
    rmSync(data, { recursive: true })
  })

  test('with a folder its objects are there the next time', async () => {
    const data = mkdtempSync(join(tmpdir(), 'evenkeel-test-'))
    try {
      await running({ data }, (ready) => echoes(ready, 'a'))
      await running({ data }, async (ready) => {
        expect((await ready.manager.client.get(Note, { name: 'a', namespace: 'default' })).status).toMatchObject({
          text: 'hello',
        })
        expect(readFileSync(join(data, 'kubeconfig'), 'utf8')).toContain(ready.url)
      })
    } finally {
      rmSync(data, { recursive: true })
    }
  })

  test('onReady may write objects: no controller sees what was there before; what it throws ends the run', async () => {
    const seen: string[] = []
    const stopping = new AbortController()
    const done = deferred<void>()
    const controllers = [
      {
        for: Note,
        reconcile: (note: { readonly spec: { readonly text?: string | undefined } }) => {
          seen.push(note.spec.text ?? '')
          done.resolve()
        },
      },
    ]
    const ready = async ({ manager: { client } }: Ready): Promise<void> => {
      for (const text of ['old', 'older', 'new'])
        await client.apply(
          Note,
          { metadata: { name: 'a', namespace: 'default' }, spec: { text } },
          { fieldManager: 'a test', force: true },
        )
    }
    const ended = runControllers(stopping.signal, { controllers, embedded: true, onReady: ready })
    await done.promise
    expect(seen).toEqual(['new'])
    stopping.abort()
    await ended
    const failing = { controllers, embedded: true, onReady: () => Promise.reject(new Error('not ready')) }
    await expect(runControllers(new AbortController().signal, failing)).rejects.toThrow('not ready')
  })

  test('a port that is taken is said in one line', async () => {
    await onServer(async ({ server }) => {
      const port = server.address?.port ?? 0
      const { err, exitCode } = await running({ port, data: mkdtempSync(join(tmpdir(), 'evenkeel-test-')) }, () =>
        Promise.reject(new Error('it started')),
      )
      expect([err, exitCode]).toEqual([`Error: port ${port} is taken: stop what uses it, or choose another\n`, 1])
    })
  })
})

describe('run with a cluster', () => {
  test('it installs its kinds and works over HTTPS, as the leader', async () => {
    await onServer(async ({ host }) => {
      const { out, err, exitCode } = await running({ host, leaderElection: { thread: false } }, async (ready) => {
        await echoes(ready, 'a')
        expect(ready.manager.isLeading).toBe(true)
      })
      expect(out).toMatch(/^note-controller runs on https:\/\/127\.0\.0\.1:\d+\n$/)
      expect([err.includes('became leader'), exitCode]).toEqual([true, undefined])
    })
  })

  const bad: readonly { what: string; files?: Record<string, string>; options?: Options; says: RegExp }[] = [
    {
      what: 'a kubeconfig that is not there',
      options: { kubeconfig: '/nowhere' },
      says: /^Error: the kubeconfig \/nowhere does not exist\n$/,
    },
    {
      what: 'a kubeconfig that is none',
      files: { [kubeconfigPath]: 'clusters: {' },
      says: /^Error: .*\/home\/somebody\/\.kube\/config.*\n$/,
    },
    {
      what: 'a context that is not there',
      files: { [kubeconfigPath]: kubeconfigOf({ server: 'https://127.0.0.1:1' }) },
      options: { context: 'production' },
      says: /^Error: .*production.*\n$/,
    },
    {
      what: 'a server that is not there',
      files: { [kubeconfigPath]: kubeconfigOf({ server: 'https://127.0.0.1:1' }) },
      says: /^Error: cannot connect to https:\/\/127\.0\.0\.1:1: connection refused; is the server running.*\n$/,
    },
    {
      what: 'no cluster, and no wish for one',
      options: { embedded: false },
      says: /^Error: no cluster is configured.*\n$/,
    },
  ]
  test.each(bad)('$what is said in one line, with code 1', async ({ files = {}, options = {}, says }) => {
    const { err, out, exitCode } = await running({ host: hostWith(files), ...options }, () =>
      Promise.reject(new Error('it started')),
    )
    expect(err).toMatch(says)
    expect([out, exitCode]).toEqual(['', 1])
  })

  test('a signal while the server does not answer is an ordinary stop', async () => {
    const called = deferred<void>()
    const silent = createServer(() => {
      called.resolve()
    }).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const fake = new FakeProcess()
    const stopped = run({
      process: fake,
      host: hostWith({
        [kubeconfigPath]: kubeconfigOf({ server: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` }),
      }),
      controllers: [{ for: Note, reconcile: () => undefined }],
    })
    await called.promise
    fake.emit('SIGINT')
    await stopped
    expect([fake.out, fake.err, fake.exitCode, fake.eventNames()]).toEqual(['', '', undefined, []])
    silent.closeAllConnections()
    silent.close()
  })

  test('a certificate that has expired is said in one line', async () => {
    const clock = new SimulatedClock({ startMs: 1_400_000_000_000 })
    await onServer(
      async ({ host }) => {
        const { err, exitCode } = await running({ host }, () => Promise.reject(new Error('it started')))
        expect(err).toMatch(
          /^Error: cannot connect to https:.*: the certificate of the server has expired; renew it\n$/,
        )
        expect(exitCode).toBe(1)
      },
      { clock, random: new SeededRandom(1) },
    )
  })

  test('a token that is not good is said in one line', async () => {
    await onServer(async ({ server }) => {
      const { url = '', caPem } = server.address ?? {}
      const { err, exitCode } = await running(
        { host: hostWith({ [kubeconfigPath]: kubeconfigOf({ server: url, caPem, token: 'old' }) }) },
        () => Promise.reject(new Error('it started')),
      )
      expect(err).toMatch(
        /^Error: the server rejected our credentials \(Unauthorized.*\): check the user of the kubeconfig, its token or certificate may have expired\n$/i,
      )
      expect(exitCode).toBe(1)
    })
  })
})
