/** ps, restart, stop, start, scale, wait and down on workloads of a simulated machine. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorkloads, type WorkloadsFolder } from './run.fixture.ts'

let world: WorkloadsFolder
beforeAll(async () => {
  world = await startWorkloads()
  await world.apply({
    db: { command: ['serve', 'db'], ports: [{ name: 'sql' }] },
    web: { command: ['serve', 'web'], dependsOn: [{ name: 'db' }] },
    worker: { command: ['serve', 'worker'], dependsOn: [{ name: 'queue' }] },
    lost: { command: ['missing'] },
  })
  await world.type(['wait', 'db', 'web', '--for=Ready', '--timeout', '60s'])
  await world.type(['wait', 'worker', 'lost', '--for=jsonpath={.status.phase}', '--timeout', '60s'])
})
afterAll(() => world.stop())

/** Waits until a workload is so. */
const until = async (name: string, goal: string): Promise<void> => {
  const { code, err } = await world.type(['wait', name, '--for', goal, '--timeout', '60s'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
}

describe('ps', () => {
  test('shows every workload with its phase, ports and why it is not ready', async () => {
    const { code, out } = await world.type(['ps'])
    expect(code).toBe(0)
    const rows = out.split('\n').map((line) => line.replace(/\s{2,}/g, ' | '))
    expect(rows[0]).toBe('WORKLOAD | PHASE | READY | RESTARTS | UP | PID | PORTS | WHY')
    expect(rows[1]).toMatch(/^process\/db \| Running \| True \| 0 \| \S+ \| \d+ \| sql:\d+$/)
    expect(rows[2]).toMatch(
      /^process\/lost \| Failed \| False \| 0 \| NotFound: missing is in no folder of PATH: \/bin/,
    )
    expect(rows[4]).toMatch(/^process\/worker \| Waiting \| False \| 0 \| \S+: waits for Process queue: /)
  })

  test('--json has the same for programs', async () => {
    const { out } = await world.type(['ps', '--json'])
    expect(JSON.parse(out)).toMatchObject([
      { kind: 'Process', name: 'db', phase: 'Running', ready: 'True', isSettled: true, run: 1 },
      { name: 'lost', phase: 'Failed', isSettled: false },
      { name: 'web' },
      { name: 'worker' },
    ])
  })

  test('W29: neither ps nor the answers about a workload have values of its variables', async () => {
    await world.apply({ keys: { command: ['serve'], env: [{ name: 'TOKEN', value: 'hunter2-secret' }] } })
    await until('keys', 'Ready')
    await world.apply({ keys: { command: ['serve'], env: [{ name: 'TOKEN', value: 'hunter3-secret' }] } })
    await until('keys', 'jsonpath={.status.run.number}=2')
    const seen = []
    for (const words of [['ps'], ['ps', '--json'], ['why', 'process/keys'], ['why', 'process/keys', '--json']])
      seen.push((await world.type(words)).out)
    const { status } = JSON.parse((await world.type(['get', 'process/keys', '-o', 'json'])).out) as { status: object }
    seen.push(JSON.stringify(status))
    expect(seen.every((text) => text !== '')).toBe(true)
    expect(seen.join('')).not.toContain('hunter')
    expect(seen.join('')).toContain('TOKEN')
    await world.type(['delete', 'process/keys'])
    await world.type(['wait', 'process/keys', '--for=delete', '--timeout', '60s'])
  })

  test('-w prints a row again when it changes', async () => {
    const stop = new AbortController()
    let text = ''
    const watching = world.type(['ps', '-w'], {
      signal: stop.signal,
      onOut: (piece: string) => {
        if (text === '') void world.type(['stop', 'db'])
        text += piece
        if (/process\/db +Stopped/.test(text)) stop.abort()
      },
    })
    await watching
    expect(text).toMatch(/process\/db +Running[^]*process\/db +Stopped/)
    await world.type(['start', 'db'])
    await until('db', 'Ready')
  })
})

describe('restart, stop and start', () => {
  test('find workloads by name, and change them', async () => {
    expect(await world.type(['restart', 'db'])).toEqual({ code: 0, out: 'process/db: restart requested\n', err: '' })
    await until('db', 'jsonpath={.status.run.number}=3')
    expect((await world.type(['stop', 'process/db', 'web'])).out).toBe(
      'process/db: stop requested\nprocess/web: stop requested\n',
    )
    await until('db', 'jsonpath={.status.phase}=Stopped')
    expect((await world.type(['stop', 'db', '--json'])).out).toBe(
      '{"action":"stop","kind":"Process","name":"db","changed":false}\n',
    )
    await world.type(['start', 'db', 'web'])
    await until('db', 'Ready')
    await until('web', 'Ready')
  })

  test('names all that are missing, and similar ones; nothing is changed', async () => {
    const before = await world.type(['get', 'process/db', '-o', 'json'])
    expect(await world.type(['restart', 'db', 'wbe', 'lst'])).toEqual({
      code: 1,
      out: '',
      err: 'error[not-found]: no workloads are called wbe, lst in namespace default\nTry: web, lost\n',
    })
    expect(await world.type(['get', 'process/db', '-o', 'json'])).toEqual(before)
  })
})

describe('scale', () => {
  test.each([
    [['web=3'], 2, /^error\[usage\]: process\/web has no replicas\nTry: declare it as a ProcessSet/],
    [['web'], 2, /"web" is not NAME=NUMBER with a number up to 1000\nTry: evenkeel scale worker=3/],
    [['web=1000000000'], 2, /is not NAME=NUMBER with a number up to 1000/],
    [['nothing=1'], 1, /no workload is called nothing/],
  ])('A.4: %j is refused with what to write', async (words, code, says) => {
    expect(await world.type(['scale', ...words])).toMatchObject({
      code,
      out: '',
      err: expect.stringMatching(says) as string,
    })
  })
})

describe('W49: wait', () => {
  test('for several workloads lists all that are missing, and why', async () => {
    const { code, err } = await world.type(['wait', 'db', 'worker', 'lost', '--for=Ready', '--timeout', '0'])
    expect(code).toBe(1)
    expect(err).toContain('process/worker: condition Ready is False: ')
    expect(err).toContain('waits for Process queue')
    expect(err).toContain('process/lost: condition Ready is False: NotFound, missing is in no folder of PATH: /bin')
    expect(err).not.toContain('process/db')
  })

  test('names every workload that does not exist', async () => {
    expect(await world.type(['wait', 'dc', 'nobody', 'db', '--for=Ready'], { clock: new SimulatedClock() })).toEqual({
      code: 1,
      out: '',
      err: 'error[not-found]: no workloads are called dc, nobody in namespace default\nTry: db\n',
    })
  })
})
