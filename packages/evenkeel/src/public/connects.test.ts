/** Commands at objects through the public names: a server, a client in process, and one over TLS. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { connect, refTo, type Client, type RemoteCommand, type RemoteCommandOptions } from './client.ts'
import { ApiError, defineKind } from './index.ts'
import {
  openDataPlane,
  type ConnectHandler,
  type ConnectRequest,
  type ConnectResult,
  type OutputWriter,
  type TerminalSize,
} from './server.ts'
import { startTestPlane } from './testing.ts'

const Website = defineKind({
  group: 'demo.dev',
  version: 'v1',
  kind: 'Website',
  spec: { type: 'object', properties: {} },
})
const home = refTo(Website, { name: 'home', namespace: 'default' })
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** Writes what comes, then the size, then `err`; the exit code is the number of words. */
const echo: ConnectHandler = async (_, { command, stdin, stdout, stderr, resizes, tty }) => {
  if (command[0] === 'refuse') throw new ApiError('BadRequest', 'home has no shell')
  if (command[0] === 'hang') await new Promise(() => undefined)
  await copy(stdin, stdout)
  if (tty) for await (const size of resizes) if (await show(size, stdout)) break
  await stderr.write(Buffer.from('err'))
  return { exitCode: command.length } satisfies ConnectResult
}

async function copy(stdin: ConnectRequest['stdin'], stdout: OutputWriter): Promise<void> {
  for await (const bytes of stdin) await stdout.write(bytes)
}

async function show({ width, height }: TerminalSize, stdout: OutputWriter): Promise<boolean> {
  await stdout.write(Buffer.from(`${width}x${height}`))
  return true
}

async function inProcess(): Promise<Client> {
  const plane = await startTestPlane({
    kinds: [Website],
    customResources: [{ kind: Website, connects: { exec: echo } }],
    builtin: false,
  })
  stops.push(() => plane.stop())
  return plane.client
}

async function overTls(): Promise<Client> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-connects-'))
  const data = await openDataPlane({
    folder,
    memory: true,
    kinds: [Website],
    customResources: [{ kind: Website, connects: { exec: echo } }],
  })
  const client = await connect({ kubeconfig: data.kubeconfig, namespace: 'default' })
  stops.push(
    () => rm(folder, { recursive: true, force: true }),
    () => data.stop(),
    () => client.close(),
  )
  return client
}

async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of output) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe.each([
  ['in process', inProcess],
  ['over TLS', overTls],
])('a command %s', (_, start) => {
  async function run(options: RemoteCommandOptions): Promise<RemoteCommand> {
    const client = await start()
    await client.create(Website, { metadata: { name: 'home', namespace: 'default' }, spec: {} })
    return client.subresource('exec').connect(home, options)
  }

  test('gets its input, and its output and exit code come back', async () => {
    const { stdin, stdout, stderr, result } = await run({ command: ['a', 'b'], stdin: true })
    const texts = Promise.all([textOf(stdout), textOf(stderr)])
    const long = 'x'.repeat(300_000)
    await stdin.write(Buffer.from(long))
    stdin.end()
    expect(await result).toEqual({ exitCode: 2 })
    expect(await texts).toEqual([long, 'err'])
  })

  test('sees the size of the terminal', async () => {
    const { stdout, resize, result } = await run({ tty: true })
    resize({ width: 90, height: 20 })
    expect(await textOf(stdout)).toBe('90x20')
    expect(await result).toEqual({ exitCode: 0 })
  })

  test('a refusal of the handler rejects the result', async () => {
    await expect((await run({ command: ['refuse'] })).result).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'home has no shell',
    })
  })

  test('ends with close, and with its signal', async () => {
    const stop = new AbortController()
    const { close, result, stdout, stdin } = await run({ command: ['hang'], stdin: true, signal: stop.signal })
    close()
    await expect(result).rejects.toThrow('the connection was closed by its owner')
    expect(await textOf(stdout)).toBe('')
    await expect(stdin.write(Buffer.from('x'))).rejects.toThrow('closed')
    const other = await run({ command: ['hang'], signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(other.result).rejects.toThrow('enough')
  })

  test('an object that does not exist rejects the call', async () => {
    const client = await start()
    await expect(client.subresource('exec').connect(home)).rejects.toMatchObject({ reason: 'NotFound' })
  })
})
