import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from 'evenkeel'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApplication } from '../dcp-server.fixture.ts'
import type { ContainerLogs } from './container-log.ts'

const at = '2030-01-31T12:00:00.000Z'

/** Logs of containers that a test writes. */
class TestRuntime implements ContainerLogs {
  readonly requests: string[] = []
  #text = ''
  #more: (() => void)[] = []

  write(line: string): void {
    this.#text += `${at} ${line}\n`
    for (const wake of this.#more.splice(0)) wake()
  }

  async *read(
    id: string,
    { source, follow, signal }: Parameters<ContainerLogs['read']>[1],
  ): AsyncGenerator<Uint8Array, void> {
    this.requests.push(`${id} ${source}${follow ? ' follow' : ''}`)
    for (let given = 0; ;) {
      if (this.#text.length > given) yield Buffer.from(this.#text.slice(given))
      given = this.#text.length
      if (!follow || signal.aborted) return
      await new Promise<void>((resolve) => {
        this.#more.push(resolve)
        signal.addEventListener('abort', () => {
          resolve()
        })
      })
    }
  }
}

let application: TestApplication
let runtime: TestRuntime
beforeEach(async () => {
  runtime = new TestRuntime()
  application = await TestApplication.start(runtime)
})
afterEach(() => application.stop())

function read(object: KubeObject, parameters: Record<string, string | number | boolean> = {}): Promise<string> {
  return application.client.subresource('log').text(object, { parameters })
}

/** A log that is followed: its lines one by one. */
function follow(object: KubeObject, parameters: Record<string, string | number | boolean> = {}): AsyncIterator<string> {
  const pieces = application.client.subresource('log').stream(object, { parameters: { follow: true, ...parameters } })
  return (async function* () {
    let rest = ''
    for await (const piece of pieces) {
      const lines = `${rest}${piece}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  })()
}

function setStatus(object: KubeObject, status: object): Promise<unknown> {
  return application.client.subresource('status').patch(object, { status })
}

const program = { spec: { executablePath: '/bin/app' } }

test('a program without a log yet has an empty one; then its file is read', async () => {
  const app = await application.create('Executable', 'App_1', program)
  expect(await read(app)).toBe('')
  const path = join(application.folder, 'out')
  await setStatus(app, { stdOutFile: path })
  expect(await read(app)).toBe('')
  await writeFile(path, `1 ${at} one\n2 ${at} two\n`)
  expect(await read(app)).toBe('one\ntwo\n')
  expect(await read(app, { tail: 1, timestamps: true })).toBe(`${at} two\n`)
  expect(await read(app, { source: 'stderr' })).toBe('')
  expect(await read(app, { source: 'startup_stdout' })).toBe('')
})

test('a log is followed from before the start to a moment after the end', async () => {
  const app = await application.create('Executable', 'app', program)
  const lines = follow(app)
  const first = lines.next()
  const path = join(application.folder, 'out')
  await setStatus(app, { state: 'Running', stdOutFile: path })
  await writeFile(path, `1 ${at} one\n`)
  expect(await first).toEqual({ done: false, value: 'one' })
  await appendFile(path, `2 ${at} last\n`)
  await setStatus(app, { state: 'Finished', finishTimestamp: at })
  expect(await lines.next()).toEqual({ done: false, value: 'last' })
  expect((await lines.next()).done).toBe(true)
})

test('a log that is followed ends when its object is deleted, also when there never was one', async () => {
  const app = await application.create('Executable', 'app', program)
  const end = follow(app).next()
  await application.client.delete(app)
  expect((await end).done).toBe(true)
})

test('what happened to an object is in a file of the session', async () => {
  const app = await application.create('Executable', 'app', { spec: { ...program.spec, terminal: {} } })
  await writeFile(join(application.folder, `resource-executable-${app.metadata.uid}.log`), 'it could not start\n')
  expect(await read(app, { source: 'system' })).toBe('it could not start\n')
  for (const source of ['', 'stdout', 'stderr'])
    await expect(read(app, { source })).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining('Executable app has a terminal') as string,
    })
})

test('a bad query, a missing object and one that is being deleted are refused', async () => {
  const app = await application.create('Executable', 'app', {
    ...program,
    metadata: { name: 'app', finalizers: ['test.dev/x'] },
  })
  await expect(read(app, { tail: 0 })).rejects.toMatchObject({ code: 400 })
  await application.client.delete(app)
  await expect(read(app)).rejects.toMatchObject({ code: 400, message: 'Executable app is being deleted' })
  await expect(read({ ...app, metadata: { name: 'none' } })).rejects.toMatchObject({
    code: 404,
    message: 'executables.usvc-dev.developer.microsoft.com "none" not found',
  })
})

test('a container has the log of its runtime once it has started', async () => {
  const redis = await application.create('Container', 'redis', { spec: { image: 'redis' } })
  runtime.write('ready')
  await setStatus(redis, { state: 'Starting', containerId: 'c1' })
  expect([await read(redis), runtime.requests]).toEqual(['', []])
  await setStatus(redis, { state: 'Running', containerId: 'c1' })
  expect(await read(redis, { source: 'stderr', line_numbers: true })).toBe('1 ready\n')
  expect(runtime.requests).toEqual(['c1 stderr'])
  await setStatus(redis, { state: 'Unknown' })
  await expect(read(redis)).rejects.toMatchObject({ code: 400 })
})

test('the tail of a container is of what was there; later lines follow until it has ended', async () => {
  const redis = await application.create('Container', 'redis', { spec: { image: 'redis' } })
  await setStatus(redis, { state: 'Running', containerId: 'c1' })
  for (const line of ['one', 'two', 'three']) runtime.write(line)
  const lines = follow(redis, { tail: 2 })
  expect([(await lines.next()).value, (await lines.next()).value]).toEqual(['two', 'three'])
  const next = lines.next()
  runtime.write('four')
  expect((await next).value).toBe('four')
  await setStatus(redis, { state: 'Exited' })
  expect((await lines.next()).done).toBe(true)
})

test('the output of a start is in files, and is over when the container runs', async () => {
  const redis = await application.create('Container', 'redis', { spec: { image: 'redis' } })
  const path = join(application.folder, 'start')
  const lines = follow(redis, { source: 'startup_stdout' })
  const first = lines.next()
  await writeFile(path, `1 ${at} pulling\n`)
  await setStatus(redis, { state: 'Starting', startupStdOutFile: path })
  expect((await first).value).toBe('pulling')
  await setStatus(redis, { state: 'Running' })
  expect((await lines.next()).done).toBe(true)
  expect(await read(redis, { source: 'startup_stderr' })).toBe('')
})
