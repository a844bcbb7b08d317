import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { untilThere } from '../dcp-process.fixture.ts'
import { runtimeLogs, socketLogs, type ContainerLogs } from './container-log.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-dcp-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type LogRequest = Parameters<ContainerLogs['read']>[1]

async function read(logs: ContainerLogs, request: Partial<LogRequest> = {}): Promise<string> {
  const signal = new AbortController().signal
  const pieces: Uint8Array[] = []
  for await (const piece of logs.read('c1', { source: 'stdout', follow: false, signal, ...request })) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** A command in place of docker. */
async function commandOf(script: string): Promise<string> {
  const path = join(folder, 'runtime')
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

test('the command of the runtime is asked for one of the two outputs', async () => {
  const logs = runtimeLogs(await commandOf('echo "out $*"; echo "err $*" >&2'))
  expect(await read(logs)).toBe('out container logs --timestamps c1\n')
  expect(await read(logs, { source: 'stderr' })).toBe('err container logs --timestamps c1\n')
  expect(await read(logs, { follow: true })).toBe('out container logs --timestamps --follow c1\n')
})

test('more of the other output than a pipe holds stops nothing', async () => {
  const logs = runtimeLogs(await commandOf('head -c 1000000 /dev/zero >&2; echo done'))
  expect(await read(logs)).toBe('done\n')
})

test('a command that goes on ends with the reader', async () => {
  const ended = join(folder, 'ended')
  const script = `trap 'echo > ${ended}; exit' TERM\necho ready\nwhile :; do sleep 0.02; done`
  const logs = runtimeLogs(await commandOf(script))
  const stop = new AbortController()
  const pieces = logs.read('c1', { source: 'stdout', follow: true, signal: stop.signal })[Symbol.asyncIterator]()
  expect(Buffer.from((await pieces.next()).value as Uint8Array).toString()).toBe('ready\n')
  const end = pieces.next().catch(() => undefined)
  stop.abort(new Error('the client has left'))
  await end
  await untilThere(ended)
})

test('a runtime that is not installed is named', async () => {
  await expect(read(runtimeLogs(join(folder, 'none')))).rejects.toThrow(`${join(folder, 'none')} cannot show logs`)
})

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(answer)
  server.listen(join(folder, 'socket'))
  await once(server, 'listening')
  return server
}

test('a socket is asked for a container, an output and times, and may refuse', async () => {
  const asked: (string | undefined)[] = []
  const server = await listen(({ url, headers }, response) => {
    asked.push(url, String(headers['trace-id']))
    response.writeHead(asked.length > 2 ? 404 : 200).end('one\n')
  })
  const logs = socketLogs(join(folder, 'socket'))
  expect(await read(logs, { source: 'stderr', follow: true })).toBe('one\n')
  expect(asked).toEqual([
    '/apis/usvc-dev.developer.microsoft.com/v1/containers/c1/log?source=stderr&follow=true&timestamps=true',
    'c1',
  ])
  await expect(read(logs)).rejects.toThrow('the container runtime answered 404')
  server.close()
})
