/** The tool `exec`, against a kind whose commands do what a test says. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineKind } from 'evenkeel'
import { connect, loadConfig, type Client } from 'evenkeel/client'
import { openDataPlane, type ConnectHandler, type ConnectRequest } from 'evenkeel/server'
import { deferred, nextTurn, SimulatedClock, SystemClock } from 'evenkeel/unstable/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConnectedMcp } from '../fixtures/mcp.fixture.ts'

const Lab = defineKind({ group: 'demo.dev', version: 'v1', kind: 'Lab', spec: { type: 'object', properties: {} } })
const Box = defineKind({ group: 'demo.dev', version: 'v1', kind: 'Box', spec: { type: 'object', properties: {} } })

let folder: string
let client: Client
let stop: () => Promise<void>
/** What the next command does. */
let program: (request: ConnectRequest) => Promise<{ readonly exitCode: number }>
const ended: (() => Promise<void>)[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-mcp-exec-'))
  const exec: ConnectHandler = (_, request) => program(request)
  const data = await openDataPlane({
    folder: join(folder, 'data'),
    memory: true,
    kinds: [Lab, Box],
    customResources: [{ kind: Lab, connects: { exec } }],
  })
  stop = () => data.stop()
  client = await connect({ config: await loadConfig({ kubeconfig: join(folder, 'data', 'kubeconfig') }), retry: false })
  for (const kind of [Lab, Box]) await client.create(kind, { metadata: { name: 'a', namespace: 'default' }, spec: {} })
})
afterAll(async () => {
  for (const end of ended) await end()
  await client.close()
  await stop()
  await rm(folder, { recursive: true, force: true })
})

async function open(options: Partial<Parameters<typeof ConnectedMcp.open>[0]> = {}): Promise<ConnectedMcp> {
  const made = await ConnectedMcp.open({
    cwd: folder,
    connect: () => Promise.resolve(client),
    allowWrites: true,
    ...options,
  })
  ended.push(() => made.close())
  return made
}

const lab = { kind: 'lab', name: 'a' }

describe('the tool exec', () => {
  test('runs the command with its input and returns its exit code and both outputs', async () => {
    program = async ({ command, tty, container, stdin, stdout, stderr }) => {
      await stdout.write(Buffer.from(JSON.stringify({ command, tty, container })))
      for await (const piece of stdin) await stderr.write(Buffer.from(Buffer.from(piece).toString().toUpperCase()))
      return { exitCode: 3 }
    }
    const mcp = await open()
    const given = { ...lab, command: ['ls', '-l', '$HOME; x'], container: 'main', stdin: 'abc' }
    expect((await mcp.call('exec', given)).data).toEqual({
      exitCode: 3,
      stdout: '{"command":["ls","-l","$HOME; x"],"tty":false,"container":"main"}',
      stderr: 'ABC',
      isCut: false,
      timedOut: false,
    })
    expect((await mcp.call('exec', { ...lab, command: ['ls'] })).data).toMatchObject({ exitCode: 3, stderr: '' })
    expect(mcp.tools.find(({ name }) => name === 'exec')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    })
  })

  test('keeps the last part of a long output', async () => {
    program = async ({ stdout, stderr }) => {
      for (let line = 0; line < 2000; line++) await stdout.write(Buffer.from(`line "${line}"\n`))
      await stderr.write(Buffer.from('done'))
      return { exitCode: 0 }
    }
    const { data, text } = await (await open({ bytesMax: 5000 })).call('exec', { ...lab, command: ['ls'] })
    expect(data).toMatchObject({ exitCode: 0, isCut: true, stderr: 'done' })
    expect(data['stdout']).toMatch(/line "1998"\nline "1999"\n$/)
    expect(data).not.toHaveProperty('truncated')
    expect(text.length).toBeLessThan(5500)
  })

  test('ends the command when its time is over, also one that does not read its input', async () => {
    const clock = new SimulatedClock()
    const aborted = deferred<undefined>()
    program = async ({ stdout, signal }) => {
      await stdout.write(Buffer.from('begun'))
      // The time of the call begins when the client knows that the command runs.
      for (; !signal.aborted; await nextTurn(new SystemClock())) await clock.advance(1000)
      aborted.resolve(undefined)
      return { exitCode: 0 }
    }
    const given = { ...lab, command: ['ls'], stdin: 'x'.repeat(32_768), timeoutSeconds: 5 }
    const { data } = await (await open({ clock })).call('exec', given)
    expect(data).toEqual({ stdout: 'begun', stderr: '', isCut: false, timedOut: true })
    await aborted.promise
  })

  test('ends the command when the call is cancelled', async () => {
    const [begun, aborted] = [deferred<undefined>(), deferred<undefined>()]
    program = async ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted.resolve(undefined)
      })
      begun.resolve(undefined)
      await aborted.promise
      return { exitCode: 0 }
    }
    const cancel = new AbortController()
    const mcp = await open()
    const called = mcp.client.callTool({ name: 'exec', arguments: { ...lab, command: ['ls'] } }, undefined, {
      signal: cancel.signal,
    })
    await begun.promise
    cancel.abort(new Error('enough'))
    await expect(called).rejects.toThrow()
    await aborted.promise
  })

  test.for([
    ['a kind without exec', { kind: 'box', name: 'a', command: ['ls'] }, /^usage: boxes have no subresource exec/],
    ['an object that does not exist', { ...lab, name: 'b', command: ['ls'] }, /^not-found: /],
    ['no command', { ...lab, command: [] }, /^usage: command must name a program/],
    ['a text as command', { ...lab, command: 'ls -l' }, /^usage: command must be a list of texts/],
    ['a number in the command', { ...lab, command: ['ls', 1] }, /^usage: command must be a list of texts/],
    [
      'a long input',
      { ...lab, command: ['cat'], stdin: 'x'.repeat(1_048_577) },
      /^usage: stdin must have at most 1048576/,
    ],
    [
      'another namespace',
      { ...lab, namespace: 'kube-system', command: ['ls'] },
      /^not-allowed: .*limited to namespace/,
    ],
  ] as const)('refuses %s, and runs nothing', async ([, given, expected]) => {
    let count = 0
    program = () => Promise.resolve({ exitCode: ++count })
    const { isError, text } = await (await open({ namespace: 'default' })).call('exec', given)
    expect([isError, text, count]).toEqual([true, expect.stringMatching(expected) as string, 0])
  })

  test('does not exist without --allow-writes', async () => {
    let count = 0
    program = () => Promise.resolve({ exitCode: ++count })
    const reader = await open({ allowWrites: false })
    for (const name of ['exec', 'down']) {
      expect(reader.tools.map((tool) => tool.name)).not.toContain(name)
      const { isError, text } = await reader.call(name, { ...lab, command: ['ls'], confirm: 'default' })
      expect([isError, text, count]).toEqual([true, expect.stringContaining('this server is read-only') as string, 0])
    }
  })
})
