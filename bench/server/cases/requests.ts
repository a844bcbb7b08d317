/**
 * Create, get, update and merge patch of one object at a time, by the number of connections.
 */
import type { Operation } from '../load/jobs.ts'
import { printPairs, race, wantsAny } from '../race.ts'
import type { Reading } from '../race.ts'
import { namespaces } from './stage.ts'
import type { Stage } from './stage.ts'

const operations: readonly Operation[] = ['create', 'get', 'update', 'merge patch']

export async function requestBench(stage: Stage): Promise<void> {
  for (const operation of operations) {
    for (const connections of stage.plan.connections) await requestCase(stage, operation, connections)
  }
}

async function requestCase(stage: Stage, operation: Operation, connections: number): Promise<void> {
  const { pairs, generator, plan, rounds, run, wants, print } = stage
  const readings = readingsOf(operation, connections, Math.max(...plan.connections))
  if (
    !wantsAny(
      pairs,
      readings.map(({ case: reading }) => reading),
      wants,
    )
  )
    return
  const results = await race(pairs, rounds, ({ target, kind }, round) =>
    generator.run({
      type: 'requests',
      operation,
      connections,
      bounds: plan.requests,
      place: { address: target.address, processIds: target.processIds, kind, namespace: namespaces.requests },
      run: `${run}-${operation.replace(' ', '-')}-${connections}-${round}`,
    }),
  )
  printPairs(pairs, readings, { results, print })
}

function readingsOf(operation: Operation, connections: number, most: number): Reading[] {
  const name = `${operation} 1KiB c=${connections}`
  return [
    { case: name, unit: 'requests/s', isMain: true, of: ({ perSecond }) => perSecond },
    { case: `${name} p99`, unit: 'ms', lessIsBetter: true, of: ({ p99Ms }) => p99Ms },
    ...(connections === most
      ? [
          {
            case: `cpu per ${operation}`,
            unit: 'us',
            lessIsBetter: true,
            of: ({ serverCpuUs }) => serverCpuUs,
          } satisfies Reading,
        ]
      : []),
  ]
}
