/** Logs of processes on this machine. */
import { statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isReady, phaseIs, startReal } from '../plane.fixture.ts'
import { OsLogFiles } from './log-files.ts'

const keyOf = (name: string) => ({
  apiVersion: 'workloads.evenkeel.dev/v1',
  kind: 'Process',
  metadata: { name, namespace: 'default' },
})

type RealPlane = Awaited<ReturnType<typeof startReal>>

/** Follows a log of numbers until the last one. Returns what is wrong with their order. */
async function followNumbers({ client }: RealPlane, name: string, last: number): Promise<string | undefined> {
  let [rest, expected] = ['', 1]
  for await (const piece of client.subresource('log').stream(keyOf(name), { parameters: { follow: true } })) {
    const lines = `${rest}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (Number(line) !== expected++) return `${line} instead of ${expected - 1}`
    if (expected > last) return undefined
  }
  return `it ended after ${expected - 1}`
}

describe('logs on this machine', () => {
  test('W26: two processes write millions of lines to two readers each: none is lost or torn', async () => {
    const world = await startReal()
    const count = 500_000
    const spec = { shell: `seq 1 ${count}; exec sleep 1000` }
    await Promise.all(['a', 'b'].map((name) => world.create(name, spec)))
    await Promise.all(['a', 'b'].map((name) => world.until(name, ({ status }) => status?.run?.logFile !== undefined)))
    const problems = await Promise.all(['a', 'b', 'a', 'b'].map((name) => followNumbers(world, name, count)))
    expect(problems).toEqual([undefined, undefined, undefined, undefined])
  }, 120_000)

  test('W26: a log is bounded on the disk while its program writes, and its last lines are whole', async (context) => {
    const world = await startReal()
    const count = 1_000_000
    await world.create('web', { shell: `seq 1 ${count}`, restart: { policy: 'Never' }, log: { maxBytes: 1_000_000 } })
    const { status } = await world.until('web', phaseIs('Succeeded'))
    const path = status?.run?.logFile ?? ''
    const canRelease = await new OsLogFiles().releaseBytes(path, { from: 0, to: 4096 }).catch(() => false)
    if (!canRelease) context.skip('the file system cannot punch holes')
    await world.plane.until(() => statSync(path).blocks * 512 < 1_500_000, { timeoutMs: 60_000 })
    const text = await world.client.subresource('log').text(keyOf('web'))
    const lines = text.trim().split('\n').map(Number)
    expect(text.length).toBeLessThanOrEqual(1_000_000)
    expect(lines).toEqual(lines.map((_, index) => count - lines.length + 1 + index))
  }, 120_000)

  test('stderr has its own file when the spec says so', async () => {
    const world = await startReal()
    await world.create('web', {
      shell: 'echo out; echo err >&2; exec sleep 1000',
      log: { separateStderr: true },
      probes: { readiness: { logLine: { contains: 'err' }, periodSeconds: 0.05 } },
    })
    await world.until('web', isReady)
    const read = (source: string) => world.client.subresource('log').text(keyOf('web'), { parameters: { source } })
    expect([await read('stdout'), await read('stderr')]).toEqual(['out\n', 'err\n'])
  }, 60_000)

  test('a program that punches holes and does not exist is reported as not supported', async () => {
    const files = new OsLogFiles({ program: 'evenkeel-no-such-program' })
    expect(await files.releaseBytes('/tmp/none', { from: 0, to: 4096 })).toBe(false)
  })
})
