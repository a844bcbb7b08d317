/** The `log` subresource of Processes, on a simulated machine. */
import { formatMicroTime } from 'evenkeel/unstable/api'
import { describe, expect, test } from 'vitest'
import type { LogHandle } from './log-files.ts'
import { conditionOf, isReady, phaseIs, startSimulated, type SimulatedPlane } from '../plane.fixture.ts'

type Parameters = Record<string, string | number | boolean>

/** A process that runs, and the path of its log. */
async function running(spec: object = {}): Promise<{ world: SimulatedPlane; path: string }> {
  const world = await startSimulated()
  await world.create('web', { command: ['serve'], ...spec })
  return { world, path: await logOf(world) }
}

async function logOf(world: SimulatedPlane, run = 1): Promise<string> {
  const { status } = await world.until('web', (object) => isReady(object) && object.status?.run?.number === run)
  return status?.run?.logFile ?? ''
}

const keyOf = (name: string) => ({
  apiVersion: 'workloads.evenkeel.dev/v1',
  kind: 'Process',
  metadata: { name, namespace: 'default' },
})

function read({ client }: SimulatedPlane, parameters: Parameters = {}, name = 'web'): Promise<string> {
  return client.subresource('log').text(keyOf(name), { parameters })
}

/** A reader that follows. */
class Follower {
  text = ''
  isOver = false
  readonly #world: SimulatedPlane
  readonly #stop = new AbortController()

  constructor(world: SimulatedPlane, parameters: Parameters = {}) {
    this.#world = world
    void this.#run(parameters)
  }

  async #run(parameters: Parameters): Promise<void> {
    const options = { parameters: { follow: true, ...parameters }, signal: this.#stop.signal }
    for await (const piece of this.#world.client.subresource('log').stream(keyOf('web'), options)) this.text += piece
    this.isOver = true
  }

  async until(text: string): Promise<void> {
    await this.#world.plane.until(() => this.text.includes(text), { timeoutMs: 60_000 })
  }

  async untilOver(): Promise<void> {
    await this.#world.plane.until(() => this.isOver, { timeoutMs: 60_000 })
  }
}

/** Ends the run; the next one starts by itself. */
async function restart(world: SimulatedPlane, run: number): Promise<string> {
  const { status } = await world.get('web')
  world.host.exit(status?.run?.pid ?? 0, { exitCode: 3 })
  return logOf(world, run)
}

describe('the log of a Process', () => {
  test('W26: bytes are kept as they are, with or without a line break at the end', async () => {
    const { world, path } = await running()
    expect(await read(world)).toBe('')
    const bytes = Buffer.from([0, 255, 13, 10, 128, 10, 65, 0xc3])
    world.logFiles.write(path, bytes)
    const pieces: Uint8Array[] = []
    const answer = await world.plane.plane.transport({
      method: 'GET',
      target: '/apis/workloads.evenkeel.dev/v1/namespaces/default/processes/web/log',
      headers: {},
    } as never)
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) pieces.push(piece)
    expect(Buffer.concat(pieces)).toEqual(bytes)
  })

  test('W26: tail 0, 1, many and all, also without a line break at the end', async () => {
    const { world, path } = await running()
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}\n`)
    world.logFiles.write(path, lines.join(''))
    expect(await read(world, { tailLines: 0 })).toBe('')
    expect(await read(world, { tailLines: 1 })).toBe('line 99999\n')
    expect(await read(world, { tailLines: 60_000 })).toBe(lines.slice(40_000).join(''))
    expect(await read(world, { tailLines: 1_000_000 })).toBe(lines.join(''))
    world.logFiles.write(path, 'rest')
    expect(await read(world, { tailLines: 2 })).toBe('line 99999\nrest')
    expect(await read(world, { tailLines: 2, limitBytes: 7 })).toBe('line 99')
  })

  test('W26: a line of 10 MiB is sent in parts with a mark, and nothing of it is lost', async () => {
    const { world, path } = await running()
    world.logFiles.write(path, `begin\n${'x'.repeat(10 * 1024 * 1024)}\nend\n`)
    for (const parameters of [{}, { timestamps: true }]) {
      const lines = (await read(world, parameters)).split('\n')
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2.1 * 1024 * 1024)
      expect(lines.filter((line) => line.endsWith(' [evenkeel: the line goes on]')).length).toBeGreaterThan(4)
      expect(
        lines.reduce((sum, line) => sum + line.lastIndexOf('x') - line.indexOf('x') + (line.includes('x') ? 1 : 0), 0),
      ).toBe(10 * 1024 * 1024)
    }
  })

  test('W26: its beginning is released when it is long, at the end of a line; readers see no hole', async () => {
    const { world, path } = await running({ log: { maxBytes: 100_000 } })
    for (let index = 0; index < 50; index++) {
      world.logFiles.write(path, Array.from({ length: 1000 }, (_, line) => `${index} ${line}\n`).join(''))
      await world.plane.advance(100)
    }
    const text = await read(world)
    expect(text).not.toContain('\0')
    expect(text.length).toBeGreaterThan(70_000)
    expect(text.length).toBeLessThanOrEqual(100_000)
    expect(text).toMatch(/^\d+ \d+\n/)
    expect(text.endsWith('49 999\n')).toBe(true)
    expect(world.logFiles.releasedBytes(path)).toBeGreaterThan(200_000)
    // Every line after the first is there, in order.
    const [first = '', ...rest] = text.trim().split('\n')
    const numberOf = (line: string): number => Number(line.split(' ')[0]) * 1000 + Number(line.split(' ')[1])
    expect(rest.map(numberOf)).toEqual(rest.map((_, index) => numberOf(first) + index + 1))
  })

  test('a file system that cannot release the beginning of a log: a condition says that it grows', async () => {
    const { world, path } = await running({ log: { maxBytes: 65_536 } })
    world.logFiles.canRelease = false
    world.logFiles.write(path, 'line\n'.repeat(20_000))
    const object = await world.until('web', (one) => conditionOf(one, 'LogsUnbounded') !== undefined)
    expect(conditionOf(object, 'LogsUnbounded')).toMatchObject({ status: 'True', reason: 'NotSupported' })
    world.logFiles.write(path, 'line\n'.repeat(20_000))
    await world.plane.advance(1000)
    expect((await read(world)).length).toBeGreaterThan(100_000)
  })

  test('W28: a full disk: the process runs on, and a condition says from which byte on output may be missing', async () => {
    const { world, path } = await running()
    world.logFiles.write(path, 'before\n')
    world.logFiles.freeBytes = 4
    const replaceText = world.files.replaceText.bind(world.files)
    world.files.replaceText = (file, text) =>
      world.logFiles.freeBytes < 1e6 ? Promise.reject(new Error('ENOSPC')) : replaceText(file, text)
    await world.plane.advance(2000)
    world.logFiles.write(path, 'abc\n')
    expect(world.logFiles.write(path, 'lost\n')).toBe(false)
    const object = await world.until('web', (one) => conditionOf(one, 'LogsLost') !== undefined)
    expect(object.status?.phase).toBe('Running')
    expect(conditionOf(object, 'LogsLost')).toMatchObject({
      status: 'True',
      reason: 'DiskFull',
      message: expect.stringMatching(/output may be missing after byte \d+ of .*uncounted.*Free some space/) as string,
    })
    world.logFiles.freeBytes = 1e9
    const after = await world.until('web', (one) => conditionOf(one, 'LogsLost')?.message?.includes(' to ') === true)
    expect(conditionOf(after, 'LogsLost')?.status).toBe('True')
    // Then nothing is looked at any more.
    const before = after.metadata.resourceVersion
    await world.plane.advance(120_000)
    expect((await world.get('web')).metadata.resourceVersion).toBe(before)
  })

  test('times: lines since a moment, and the time before each line', async () => {
    const { world, path } = await running()
    const startMs = world.plane.clock.now()
    world.logFiles.write(path, 'one\ntwo\n')
    await world.plane.advance(10_000)
    const laterMs = world.plane.clock.now()
    world.logFiles.write(path, 'three\nfo')
    await world.plane.advance(10_000)
    const timeOf = formatMicroTime
    expect(await read(world, { timestamps: true })).toBe(
      `${timeOf(startMs)} one\n${timeOf(startMs)} two\n${timeOf(laterMs)} three\n${timeOf(laterMs)} fo`,
    )
    expect(await read(world, { sinceTime: formatMicroTime(laterMs) })).toBe('three\nfo')
    expect(await read(world, { sinceSeconds: 15 })).toBe('three\nfo')
    expect(await read(world, { sinceSeconds: 60 })).toBe('one\ntwo\nthree\nfo')
  })

  test('W26: previous and run choose a run; one that is missing is refused with those that exist', async () => {
    const { world, path } = await running()
    world.logFiles.write(path, 'first\n')
    for (let run = 2; run <= 7; run++) world.logFiles.write(await restart(world, run), `run ${run}\n`)
    expect(await read(world)).toBe('run 7\n')
    expect(await read(world, { previous: true })).toBe('run 6\n')
    expect(await read(world, { run: 3 })).toBe('run 3\n')
    await expect(read(world, { run: 1 })).rejects.toMatchObject({
      code: 404,
      message: 'Process web has no log of run 1: there are logs of run 3, 4, 5, 6, 7',
    })
    await expect(read(world, { run: 3, previous: true })).rejects.toMatchObject({ code: 400 })
    await expect(read(world, { run: 0 })).rejects.toMatchObject({ code: 422 })
    await expect(read(world, { source: 'stdin' })).rejects.toMatchObject({ code: 422 })
    await expect(read(world, { source: 'stderr' })).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining('spec.log.separateStderr') as string,
    })
    // The files of runs that are not kept are gone.
    expect(world.logFiles.paths()).toHaveLength(5)
  })

  test('a process that never ran, and one that does not exist, are refused', async () => {
    const { world } = await running()
    await world.create('new', { command: ['missing'] })
    await world.until('new', phaseIs('Failed'))
    await expect(read(world, {}, 'new')).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining('Process new has not run yet: NotFound: missing is in no folder') as string,
    })
    await expect(read(world, {}, 'none')).rejects.toMatchObject({ code: 404 })
  })

  test('W26: two readers follow at once; a slow one holds up neither the process nor the other', async () => {
    const { world, path } = await running()
    const slow = world.client.subresource('log').stream(keyOf('web'), { parameters: { follow: true } })
    const [one, two] = [new Follower(world), new Follower(world, { tailLines: 0 })]
    world.logFiles.write(path, 'hello\n')
    expect((await slow.next()).value).toBe('hello\n')
    await one.until('hello\n')
    for (let index = 0; index < 100; index++) world.logFiles.write(path, `${'x'.repeat(100_000)}\n`)
    world.logFiles.write(path, 'end\n')
    await one.until('end\n')
    await two.until('end\n')
    expect(one.text).toHaveLength('hello\n'.length + 100 * 100_001 + 'end\n'.length)
    await slow.return(undefined)
  })

  test('W26: little is read ahead of a reader that pauses: memory does not grow with the log', async () => {
    const { world, path } = await running()
    const { access } = world.logFiles
    const open = access.open.bind(access)
    let readBytes = 0
    access.open = async (name) => {
      const handle = await open(name)
      const read: LogHandle['read'] = async (range) => {
        const bytes = await (handle as LogHandle).read(range)
        readBytes += bytes.length
        return bytes
      }
      return handle && { ...handle, read }
    }
    const wholeBytes = 20_000_000
    world.logFiles.write(path, `${'x'.repeat(99)}\n`.repeat(wholeBytes / 100))
    const reader = world.client.subresource('log').stream(keyOf('web'))
    let received = ((await reader.next()).value as string).length
    await world.plane.advance(60_000)
    expect(readBytes).toBeLessThan(2_000_000)
    for await (const piece of reader) received += piece.length
    expect(received).toBe(wholeBytes)
  })

  test('a reader that does not follow ends, also when its process writes as fast as it reads', async () => {
    const { world, path } = await running()
    world.logFiles.write(path, 'x\n'.repeat(200_000))
    const pieces: string[] = []
    for await (const piece of world.client.subresource('log').stream(keyOf('web'))) {
      pieces.push(piece)
      world.logFiles.write(path, 'y\n'.repeat(200_000))
      await world.plane.advance(200)
      expect(pieces.length).toBeLessThan(100)
    }
    // A text of this size must not be printed as a difference.
    expect(pieces.join('') === 'x\n'.repeat(200_000)).toBe(true)
  })

  test('W27: a reader that follows goes on with the next runs after a mark, and ends with the object', async () => {
    const { world, path } = await running()
    const follower = new Follower(world)
    world.logFiles.write(path, 'one\nunfinished')
    await follower.until('unfinished')
    world.logFiles.write(await restart(world, 2), 'two\n')
    await follower.until('two\n')
    world.logFiles.write(await restart(world, 3), 'three\n')
    await follower.until('three\n')
    expect(follower.text).toMatch(
      /^one\nunfinished\n--- run 2, started at \S+: its program exited with code 3 ---\ntwo\n--- run 3, started at .* ---\nthree\n$/,
    )
    world.logFiles.write((await world.get('web')).status?.run?.logFile ?? '', 'last words\n')
    await world.remove('web')
    await world.untilGone('web')
    await follower.untilOver()
    expect(follower.text.endsWith('three\nlast words\n')).toBe(true)
    expect(world.logFiles.paths()).toEqual([])
  })

  test('a log is followed from before the first run on', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['serve'], running: false })
    await world.until('web', phaseIs('Stopped'))
    const follower = new Follower(world)
    await world.patch('web', { running: true })
    world.logFiles.write(await logOf(world), 'hello\n')
    await follower.until('hello\n')
    expect(follower.text).toBe('hello\n')
  })

  test('a reader of one run ends with it', async () => {
    const { world, path } = await running()
    const follower = new Follower(world, { run: 1 })
    world.logFiles.write(path, 'one\n')
    await follower.until('one\n')
    await world.patch('web', { running: false })
    await follower.untilOver()
    expect(follower.text).toBe('one\n')
  })

  test('positions: a reader whose connection broke goes on after its last line, also in a later run', async () => {
    const { world, path } = await running()
    world.logFiles.write(path, 'one\ntwo\n')
    expect(await read(world, { positions: true, tailLines: 1 })).toBe('positions: 1:4\n1:8 two\n')
    expect(await read(world, { positions: true, after: '1:4' })).toBe('positions: 1:4\n1:8 two\n')
    world.logFiles.write(path, 'three\n')
    world.logFiles.write(await restart(world, 2), 'four\n')
    const rest = await read(world, { positions: true, after: '1:8' })
    expect(rest).toMatch(/^positions: 1:8\n1:14 three\n2:0 --- run 2, .* ---\n2:5 four\n$/)
    await expect(read(world, { after: 'x' })).rejects.toMatchObject({ code: 400 })
  })

  test('stderr in a file of its own: one output alone, and both in the order of their times', async () => {
    const { world, path } = await running({ log: { separateStderr: true } })
    const errors = (await world.get('web')).status?.run?.errorFile ?? ''
    expect(errors).toMatch(/\.1\.stderr\.log$/)
    for (const [file, text] of [
      [path, 'out 1\n'],
      [errors, 'err 1\n'],
      [path, 'out 2\nout 3\n'],
      [errors, 'err 2\n'],
    ] as const) {
      world.logFiles.write(file, text)
      await world.plane.advance(1000)
    }
    expect(await read(world)).toBe('out 1\nerr 1\nout 2\nout 3\nerr 2\n')
    expect(await read(world, { tailLines: 3 })).toBe('out 2\nout 3\nerr 2\n')
    expect(await read(world, { source: 'stderr' })).toBe('err 1\nerr 2\n')
    expect(await read(world, { source: 'stdout', tailLines: 1 })).toBe('out 3\n')
  })

  test('source system: what Evenkeel did, with the causes', async () => {
    const { world } = await running()
    await restart(world, 2)
    const text = await read(world, { source: 'system' })
    expect(text).toMatch(
      /^run 1 was started \(pid \d+\): it was created\nrun 1 exited with code 3\nrun 2 was started \(pid \d+\): its program exited with code 3\n$/,
    )
    const follower = new Follower(world, { source: 'system', tailLines: 0 })
    await world.patch('web', { running: false })
    await follower.until('Stopped: spec.running is false\n')
    expect(follower.text).not.toContain('it was created')
  })

  test('W43: a log at rest is not looked at; one that grows is, ten times a second', async () => {
    const { world, path } = await running()
    let looks = 0
    const find = world.logFiles.findSize.bind(world.logFiles)
    world.logFiles.findSize = (one) => {
      looks++
      return find(one)
    }
    await world.plane.advance(120_000)
    expect(looks).toBe(0)
    world.logFiles.write(path, 'hello\n')
    await world.plane.advance(120_000)
    expect(looks).toBeGreaterThan(0)
    expect(looks).toBeLessThan(6)
  })

  test('W29: neither the log nor the words of Evenkeel about it have values of variables', async () => {
    const { world } = await running({ env: [{ name: 'TOKEN', value: 'hunter2' }] })
    await world.patch('web', { env: [{ name: 'TOKEN', value: 'hunter3' }] })
    await logOf(world, 2)
    const follower = new Follower(world)
    const texts = [await read(world, { source: 'system' }), await read(world, { previous: true }), follower.text]
    expect(texts.join('')).not.toMatch(/hunter/)
    expect(texts.join('')).toContain('spec.env changed')
  })
})
