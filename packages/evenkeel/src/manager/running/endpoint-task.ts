/**
 * The endpoints of one manager, or of several, as something to run.
 */
import type { Clock, Logger, Metrics } from '#base'
import { runEndpoints } from '../endpoints/endpoints.ts'
import { registerProcessMetrics } from '../endpoints/process-metrics.ts'
import type { EndpointSettings } from '../options.ts'
import type { HealthChecks } from '../reporting.ts'
import type { RequestRules } from '../request-rules.ts'
import type { Task } from './run-group.ts'

interface EndpointParts {
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Asked for each time: controllers may come later. */
  readonly checks: () => HealthChecks
  readonly describe: () => object
  readonly rules?: RequestRules | undefined
}

/** Ready once it listens. */
export function endpointTask(
  settings: EndpointSettings,
  { clock, log, metrics, checks, describe, rules }: EndpointParts,
): Task {
  const { metrics: hasMetrics = true, debug = true, live = [], ready: more = [], onListening, ...address } = settings
  return {
    name: 'endpoints',
    run: (signal, ready) => {
      const cancel = registerProcessMetrics(metrics, { clock })
      return runEndpoints(signal, {
        ...address,
        clock,
        log,
        ...(hasMetrics && { metrics }),
        ...(debug && { reconciles: describe, ...(rules && { rules: () => rules.findings() }) }),
        get live() {
          return [...checks().live, ...live]
        },
        get ready() {
          return [...checks().ready, ...more]
        },
        onListening(url) {
          log.info('endpoints are served', { url })
          onListening?.(url)
          ready()
        },
      }).finally(cancel)
    },
  }
}
