/** When probes look, on a simulated clock. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { Prober, type ProbeTarget } from './prober.ts'
import { SimulatedFiles } from './simulated-host.ts'

const target: ProbeTarget = { mark: 's/session/u/1', logFile: '/log', ports: [], cwd: '/', env: {} }
const tcp = { tcp: { port: '80' } }

/** A prober, the times at which it looks, and a program that answers from some time on. */
function open({ upMs }: { readonly upMs: number }) {
  const clock = new SimulatedClock()
  const looks: number[] = []
  const begunMs = clock.monotonic()
  const prober = new Prober({
    clock,
    files: new SimulatedFiles(),
    checks: {
      findHealth: () => {
        looks.push(Math.round(clock.monotonic() - begunMs))
        return Promise.resolve({ isOk: clock.monotonic() - begunMs >= upMs, output: 'refused' })
      },
    },
  })
  return { clock, looks, prober, state: () => prober.stateOf(target.mark) }
}

const onChange = (): void => undefined

describe('a probe that decides about Ready', () => {
  test.each(['readiness', 'startup'] as const)(
    '%s: looks soon at first, so that a program is ready when it answers, and then once per period',
    async (name) => {
      const { clock, looks, prober, state } = open({ upMs: 60 })
      prober.watch(target, { probes: { [name]: tcp }, onChange })
      await clock.advance(100)
      expect(looks).toEqual([0, 20, 48, 87])
      expect(state()).toMatchObject({ hasStarted: true, isReady: true })
      await clock.advance(3000)
      expect(looks.slice(4)).toEqual(name === 'startup' ? [] : [1087, 2087, 3087])
    },
  )

  test('counts failures at full periods only', async () => {
    const { clock, looks, prober, state } = open({ upMs: Infinity })
    prober.watch(target, { probes: { startup: { ...tcp, failureThreshold: 3 } }, onChange })
    await clock.advance(1900)
    expect(looks.length).toBeGreaterThan(6)
    expect(state()?.failed).toBeUndefined()
    await clock.advance(200)
    expect(state()?.failed).toEqual({ probe: 'startup', output: 'refused' })
  })

  test('counts successes one period apart', async () => {
    const { clock, looks, prober, state } = open({ upMs: 30 })
    prober.watch(target, { probes: { readiness: { ...tcp, successThreshold: 2 } }, onChange })
    await clock.advance(1000)
    expect([looks, state()?.isReady]).toEqual([[0, 20, 48], false])
    await clock.advance(100)
    expect(state()?.isReady).toBe(true)
  })
})

test('a liveness probe looks once per period', async () => {
  const { clock, looks, prober } = open({ upMs: Infinity })
  prober.watch(target, { probes: { liveness: { ...tcp, failureThreshold: 9 } }, onChange })
  await clock.advance(2500)
  expect(looks).toEqual([0, 1000, 2000])
})
