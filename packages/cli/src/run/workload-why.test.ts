/** `evenkeel why` of workloads, `scale`, and `--json` of commands that change them: on a simulated machine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorkloads, type WorkloadsFolder } from './run.fixture.ts'

let world: WorkloadsFolder
beforeAll(async () => {
  world = await startWorkloads()
  await world.apply({
    api: { command: ['serve'], dependsOn: [{ name: 'db' }] },
    lost: { command: ['missing'] },
    crashing: { command: ['exit', '3', '10'], restart: { initialSeconds: 3600, maxSeconds: 3600 } },
    fine: { command: ['serve'] },
  })
  for (const [name, phase] of Object.entries({ api: 'Waiting', lost: 'Failed', crashing: 'BackOff', fine: 'Running' }))
    expect(
      await world.type(['wait', name, `--for=jsonpath={.status.phase}=${phase}`, '--timeout', '60s']),
    ).toMatchObject({
      code: 0,
    })
})
afterAll(() => world.stop())

describe('why of a Process', () => {
  test.each([
    ['api', 'No, it is NotFound: waits for Process db: there is no such object.'],
    ['lost', 'No, it is NotFound: missing is in no folder of PATH: /bin. Correct the command.'],
    ['crashing', 'No, it is BackOff: its program exited with code 3; it waits before the next start.'],
  ])('%s that is not ready says so in plain words', async (name, says) => {
    const { code, out } = await world.type(['why', `process/${name}`])
    expect(code).toBe(0)
    expect(out).toContain(`process/${name} in default\n\nIs it ready? ${says}`)
  })

  test('that is ready says so', async () => {
    expect((await world.type(['why', 'process/fine'])).out).toMatch(/^process\/fine in default\n\nIs it ready\? Yes/)
  })
})

describe('scale', () => {
  test('changes how many run, in words and in JSON', async () => {
    const set = {
      apiVersion: 'workloads.evenkeel.dev/v1',
      kind: 'ProcessSet',
      metadata: { name: 'worker' },
      spec: { replicas: 1, template: { spec: { command: ['serve', 'worker'] } } },
    }
    expect((await world.type(['apply', '-f', '-'], { stdin: JSON.stringify(set) })).code).toBe(0)
    expect(await world.type(['scale', 'worker=3'])).toEqual({ code: 0, out: 'processset/worker: 3 copies\n', err: '' })
    const ready = ['wait', 'processset/worker', '--for=jsonpath={.status.readyReplicas}=3', '--timeout', '60s']
    expect(await world.type(ready)).toMatchObject({ code: 0 })
    expect(world.host.processes().filter(({ command }) => command === 'serve worker')).toHaveLength(3)
    expect(await world.type(['scale', 'worker=0', '--json'])).toEqual({
      code: 0,
      out: '{"kind":"ProcessSet","name":"worker","replicas":0}\n',
      err: '',
    })
    const gone = ['wait', 'processset/worker', '--for=jsonpath={.status.replicas}=0', '--timeout', '60s']
    expect(await world.type(gone)).toMatchObject({ code: 0 })
  })
})
