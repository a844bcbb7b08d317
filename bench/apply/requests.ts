/**
 * Apply and patches over TLS, on our server and on a kube-apiserver: throughput, and the CPU time of the servers.
 */
import path from 'node:path'
import { benchFolder } from '../store/contender.ts'
import type { BenchOptions } from '../print.ts'
import { Generator } from '../server/load/generator.ts'
import type { Operation } from '../server/load/jobs.ts'
import { startOurs } from '../server/ours.ts'
import { findPeer } from '../server/peer.ts'
import { planFor } from '../server/plan.ts'
import { pairsOf, printPairs, race, wantsAny } from '../server/race.ts'
import type { Pair, Reading } from '../server/race.ts'
import { namespaces } from '../server/cases/stage.ts'
import { ensureNamespaces, kindsOf } from '../server/target.ts'
import type { Target } from '../server/target.ts'

const operations: readonly Operation[] = ['ssa', 'merge patch', 'strategic patch']

export async function requestBench(options: BenchOptions): Promise<void> {
  const { folder, remove } = benchFolder()
  const ours = await startOurs(path.join(folder, 'ours'))
  const generator = new Generator()
  try {
    const peer = await findPeer()
    const target: Target = {
      name: 'evenkeel',
      address: ours.address,
      processIds: [ours.processId],
      kinds: await kindsOf(ours.address),
    }
    for (const { address } of peer ? [target, peer] : [target]) await ensureNamespaces(address, [namespaces.requests])
    const pairs = pairsOf(target, peer)
    for (const operation of operations) {
      for (const connections of planFor(options).connections)
        await requestCase({ operation, connections, pairs: pairsFor(operation, pairs), generator }, options)
    }
  } finally {
    await generator.stop()
    await ours.stop()
    remove()
  }
}

interface RequestCase {
  readonly operation: Operation
  readonly connections: number
  readonly pairs: readonly Pair[]
  readonly generator: Generator
}

/** Strategic patches work only on built-in kinds. */
function pairsFor(operation: Operation, pairs: readonly Pair[]): readonly Pair[] {
  return operation === 'strategic patch' ? pairs.filter(({ suffix }) => suffix === '') : pairs
}

const runName = `r${process.pid.toString(36)}${Math.round(performance.timeOrigin).toString(36)}`

async function requestCase(
  { operation, connections, pairs, generator }: RequestCase,
  options: BenchOptions,
): Promise<void> {
  const readings = readingsOf(operation, connections)
  const wants = (name: string): boolean => name.includes(options.only)
  if (
    !wantsAny(
      pairs,
      readings.map(({ case: name }) => name),
      wants,
    )
  )
    return
  const results = await race(pairs, options.rounds, ({ target, kind }, round) =>
    generator.run({
      type: 'requests',
      operation,
      connections,
      bounds: planFor(options).requests,
      place: { address: target.address, processIds: target.processIds, kind, namespace: namespaces.requests },
      run: `${runName}-${operation.replace(' ', '-')}-${connections}-${round}`,
    }),
  )
  printPairs(pairs, readings, {
    results,
    print: (figure) => {
      if (wants(figure.case)) options.print(figure)
    },
  })
}

function readingsOf(operation: Operation, connections: number): Reading[] {
  const name = `${operation} over TLS 1KiB c=${connections}`
  return [
    { case: name, unit: 'requests/s', isMain: true, of: ({ perSecond }) => perSecond },
    { case: `${name} cpu`, unit: 'us', lessIsBetter: true, of: ({ serverCpuUs }) => serverCpuUs },
  ]
}
