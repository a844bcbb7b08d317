/**
 * The health probes of Executables that run: HTTP requests at an interval, each with its last result.
 *
 *   watch ──initialDelay──▶ look ──interval──▶ look …        UntilSuccess: until the first success
 *                            └──▶ result, health of the object ──changed──▶ a reconcile
 *
 * Probes of type Executable have no result, as in dcp. A result that differs in its time only is reported every 15 seconds.
 *
 * Invariants: at most one look of a probe is under way; `forget` leaves no timer and no look.
 */
import type { ProbeChecks } from '@evenkeel/workloads'
import { formatMicroTime, parseTime } from 'evenkeel/unstable/api'
import type { Clock } from 'evenkeel/unstable/base'
import { recordsOf, textOf, valuesOf, type Values } from '../rules/field-values.ts'
import { parseDuration } from './durations.ts'
import { ServiceNotReady } from './value-templates.ts'

export interface ProbeResult {
  readonly outcome: 'Success' | 'Failure' | 'Unknown'
  readonly timestamp: string
  readonly probeName: string
  readonly reason?: string
}

interface HealthProbesOptions {
  readonly clock: Clock
  readonly checks: ProbeChecks
}

/** What a probe needs of its object. */
interface ProbedObject {
  readonly spec: Values
  /** Replaces templates. */
  readonly render: (text: string) => string
  readonly onChange: (note: string) => void
}

interface Probed {
  readonly object: ProbedObject
  readonly stopping: AbortController
  readonly cancels: Map<string, () => void>
  readonly results: Map<string, ProbeResult>
}

const [timeoutMsDefault, staleMs, reasonLength] = [10_000, 15_000, 1024]

export class HealthProbes {
  readonly #options: HealthProbesOptions
  readonly #probed = new Map<string, Probed>()

  constructor(options: HealthProbesOptions) {
    this.#options = options
  }

  /** Begins to probe; does nothing for an object that is probed already. */
  watch(uid: string, object: ProbedObject): void {
    if (this.#probed.has(uid)) return
    const probed: Probed = { object, stopping: new AbortController(), cancels: new Map(), results: new Map() }
    this.#probed.set(uid, probed)
    for (const probe of recordsOf(object.spec, 'healthProbes')) {
      const delayMs = parseDuration(textOf(valuesOf(probe, 'schedule'), 'initialDelay')) ?? 0
      if (textOf(probe, 'type') === 'HTTP') this.#after(probed, { probe, delayMs })
    }
  }

  /** The last results, in the order of the probes. */
  resultsOf(uid: string): readonly ProbeResult[] {
    const probed = this.#probed.get(uid)
    if (!probed) return []
    return recordsOf(probed.object.spec, 'healthProbes').flatMap(
      (probe) => probed.results.get(textOf(probe, 'name')) ?? [],
    )
  }

  forget(uid: string): void {
    const probed = this.#probed.get(uid)
    this.#probed.delete(uid)
    probed?.stopping.abort(new Error('the object is probed no more'))
    for (const cancel of probed?.cancels.values() ?? []) cancel()
  }

  close(): void {
    for (const uid of [...this.#probed.keys()]) this.forget(uid)
  }

  #after(probed: Probed, { probe, delayMs }: { readonly probe: Values; readonly delayMs: number }): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      // `look` makes a result of every failure.
      void this.#look(probed, probe)
    })
    probed.cancels.set(textOf(probe, 'name'), cancel)
  }

  async #look(probed: Probed, probe: Values): Promise<void> {
    const schedule = valuesOf(probe, 'schedule')
    const result = await this.#resultOf(probed, probe)
    if (probed.stopping.signal.aborted) return
    const before = probed.results.get(result.probeName)
    if (!before || isNews(before, result)) {
      probed.results.set(result.probeName, result)
      probed.object.onChange(`its probe ${result.probeName}: ${result.outcome}`)
    }
    if (result.outcome === 'Success' && textOf(schedule, 'kind') === 'UntilSuccess') return
    this.#after(probed, { probe, delayMs: parseDuration(textOf(schedule, 'interval')) ?? timeoutMsDefault })
  }

  async #resultOf({ object, stopping }: Probed, probe: Values): Promise<ProbeResult> {
    const { clock, checks } = this.#options
    const probeName = textOf(probe, 'name')
    const finish = (outcome: ProbeResult['outcome'], reason?: string): ProbeResult => ({
      outcome,
      timestamp: formatMicroTime(clock.now()),
      probeName,
      ...(reason !== undefined && { reason: reason.slice(0, reasonLength) }),
    })
    try {
      const http = valuesOf(probe, 'httpProbe')
      const headers = recordsOf(http, 'headers').map((one) => [
        textOf(one, 'name'),
        object.render(textOf(one, 'value')),
      ])
      const { isOk, output } = await checks.findHealth(
        {
          type: 'http',
          url: object.render(textOf(http, 'url')),
          headers: Object.fromEntries(headers) as Readonly<Record<string, string>>,
          isInsecure: false,
          timeoutMs: parseDuration(textOf(valuesOf(probe, 'schedule'), 'timeout')) || timeoutMsDefault,
        },
        { signal: stopping.signal },
      )
      return isOk ? finish('Success') : finish('Failure', output)
    } catch (error) {
      const outcome = error instanceof ServiceNotReady ? 'Unknown' : 'Failure'
      return finish(outcome, error instanceof Error ? error.message : String(error))
    }
  }
}

function isNews(before: ProbeResult, after: ProbeResult): boolean {
  if (before.outcome !== after.outcome || before.reason !== after.reason) return true
  return (parseTime(after.timestamp) ?? 0) - (parseTime(before.timestamp) ?? 0) >= staleMs
}
