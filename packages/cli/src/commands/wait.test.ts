import { nextTurn, SimulatedClock, SystemClock } from 'evenkeel/unstable/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lamp, TestCli, type Said } from '../fixtures/cli.fixture.ts'

let cli: TestCli
beforeAll(async () => {
  cli = await TestCli.start()
  await cli.apply(lamp('desk'))
  await cli.apply(lamp('sun', { watts: 5000 }))
  await cli.typeUntil(['get', 'lamp/desk', '-o', 'yaml'], /Shines/)
  await cli.typeUntil(['get', 'lamp/sun', '-o', 'yaml'], /TooBright/)
})
afterAll(() => cli.stop())

function wait(...words: readonly string[]): Promise<Said> {
  return cli.type(['wait', ...words])
}

const tooBright = 'condition Ready is False: TooBright, 5000 watts are more than the 100 that the socket bears'

describe('wait', () => {
  test.each([
    [['lamp/desk', '--for', 'condition=Ready']],
    [['lamp', 'desk', '--for=condition=ready=true']],
    [['lamp/sun', '--for', 'condition=Ready=False']],
    [['lamp/desk', '--for', 'jsonpath={.spec.watts}=60']],
    [['lamp/desk', '--for', 'jsonpath=.spec.watts="60"']],
    [['lamp/desk', '--for', 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}=Shines']],
    [['lamp/desk', '--for', 'jsonpath={.status.external.id}']],
    [['lamp/desk', '--for', 'create', '--timeout', '0']],
  ])('F16: %j is met at once', async (words) => {
    const name = words.includes('lamp/sun') ? 'sun' : 'desk'
    expect(await wait(...words)).toEqual({ code: 0, out: `lamp/${name} condition met\n`, err: '' })
  })

  test('F16: waits for an object to be created, to become ready and to be deleted, by watching it', async () => {
    // The clock stands still: a command that polls, or whose time runs out, would never end.
    const clock = new SimulatedClock()
    const late = cli.type(['wait', 'lamp/late', '--for', 'create'], { clock })
    const ready = late.then(() => cli.type(['wait', 'lamp/late', '--for', 'condition=Ready', '--json'], { clock }))
    await cli.apply(lamp('late'))
    expect(await late).toMatchObject({ code: 0, out: 'lamp/late condition met\n' })
    expect(JSON.parse((await ready).out)).toEqual({
      met: 'condition=Ready',
      apiVersion: 'test.dev/v1',
      kind: 'Lamp',
      name: 'late',
      namespace: 'default',
    })
    const gone = cli.type(['wait', 'lamp/late', '--for', 'delete'], { clock })
    await cli.type(['delete', 'lamp/late'])
    expect(await gone).toMatchObject({ code: 0, out: 'lamp/late condition met\n' })
    expect(await wait('lamp/late', '--for', 'delete')).toMatchObject({ code: 0 })
  })

  test('F16: reports the object and its present state when the time is over', async () => {
    const clock = new SimulatedClock()
    const waiting = cli.type(['wait', 'lamp/sun', '--for', 'condition=Ready'], { clock })
    while (clock.pending === 0) await nextTurn(new SystemClock())
    await clock.advance(29_999)
    await clock.advance(1)
    expect(await waiting).toEqual({
      code: 1,
      out: '',
      err: `error[timeout]: lamp/sun: ${tooBright} (waited 30s)\nTry: evenkeel why lamp/sun\n`,
    })
  })

  test.each([
    [['lamp/sun', '--for', 'condition=Ready'], `lamp/sun: ${tooBright}`],
    [['lamp/sun', '--for', 'condition=Lit'], 'lamp/sun: it has no condition Lit; it is TooBright: 5000 watts'],
    [['lamp/sun', '--for', 'jsonpath={.spec.watts}=60'], 'lamp/sun: {.spec.watts} is 5000; it is TooBright'],
    [['lamp/desk', '--for', 'jsonpath={.spec.note}'], 'lamp/desk: {.spec.note} is not set; it is Ready'],
    [['lamp/desk', '--for', 'delete'], 'lamp/desk: it exists and is not being deleted'],
    [['lamp/none', '--for', 'create'], 'lamp/none: it does not exist'],
    [['lamps', '--all', '--for', 'condition=Ready'], `lamp/sun: ${tooBright}`],
  ])('F16: %j says how it is', async (words, says) => {
    const { code, err } = await wait(...words, '--timeout', '0')
    expect(code).toBe(1)
    expect(err).toContain(`error[timeout]: ${says}`)
    expect(err.split('\n')).toHaveLength(3)
  })

  test('F16: an object that does not exist, or a selection without objects, is an error', async () => {
    expect(await wait('lamp/desc', '--for', 'condition=Ready')).toMatchObject({
      code: 1,
      err: 'error[not-found]: lamp/desc does not exist in namespace default\nTry: lamp/desk\n',
    })
    expect(await wait('lamps', '-l', 'room=none', '--for', 'condition=Ready')).toMatchObject({
      code: 1,
      err: 'error[not-found]: no lamps match\nTry: evenkeel get lamps -A\n',
    })
    expect(await wait('lamps', '-l', 'room=none', '--for', 'delete')).toEqual({ code: 0, out: '', err: '' })
  })

  test.each([
    [['lamp/desk'], /^error\[usage\]: --for is missing\n/],
    [['lamp/desk', '--for', 'ready'], /^error\[usage\]: --for does not know "ready"\nTry: --for condition=Ready/],
    [['lamp/desk', '--for', 'condition=a=b=c'], /must be NAME or NAME=VALUE/],
    [['lamp/desk', '--for', 'jsonpath={.a}='], /needs a value after its equal sign/],
    [['lamp/desk', '--for', 'jsonpath={.a[}'], /^error\[usage\]: the JSON path/],
    [['lamp/desk', '--for', 'delete', '--timeout', '5'], /--timeout must be a time with its unit/],
    [['lamps', '--for', 'delete'], /name the lamps to wait for, or use -l LABELS or --all/],
    [['lamp/desk', '-A', '--for', 'delete'], /a name needs one namespace/],
  ])('F16: %j is a wrong command line', async (words, says) => {
    expect(await wait(...words)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(says) as string })
  })
})
