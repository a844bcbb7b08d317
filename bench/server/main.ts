/**
 * The server against a real kube-apiserver: the same load on both, in the same run.
 *
 *   generator (a process) ──TLS, HTTP/1.1──▶ our server (a process, file store)
 *                         └─────────────────▶ kube-apiserver + etcd, if one is given (see peer.ts)
 */
import path from 'node:path'
import type { Bench, BenchOptions } from '../print.ts'
import { benchFolder } from '../store/contender.ts'
import { limitBench } from './cases/limits.ts'
import { listBench } from './cases/lists.ts'
import { Generator } from './load/generator.ts'
import { startOurs } from './ours.ts'
import { findPeer } from './peer.ts'
import type { Peer } from './peer.ts'
import { canPin, cores, everyCore, pin } from './pin.ts'
import { planFor } from './plan.ts'
import { pairsOf } from './race.ts'
import { requestBench } from './cases/requests.ts'
import { namespaces } from './cases/stage.ts'
import type { Stage } from './cases/stage.ts'
import { startBench } from './cases/start.ts'
import { ensureNamespaces, kindsOf } from './target.ts'
import type { Target } from './target.ts'
import { watchBench } from './cases/watches.ts'

export const serverBench: Bench = {
  about:
    'requests, lists, watch fan-out, start, memory over TLS: against a kube-apiserver (KUBE_APISERVER_URL or KUBECONFIG)',
  async run(options) {
    const { folder, remove } = benchFolder()
    try {
      await runIn(folder, options)
    } finally {
      remove()
    }
  },
}

async function runIn(folder: string, options: BenchOptions): Promise<void> {
  const { rounds, only } = options
  const plan = planFor(options)
  const wants = (name: string): boolean => name.includes(only)
  const print: BenchOptions['print'] = (figure) => {
    if (wants(figure.case)) options.print(figure)
  }
  const peer = await findPeer()
  await startBench({ folder, peer, plan, rounds, print, wants })
  const ours = await startOurs(path.join(folder, 'ours'))
  const generator = new Generator()
  try {
    const target: Target = {
      name: 'evenkeel',
      address: ours.address,
      processIds: [ours.processId],
      kinds: await kindsOf(ours.address),
    }
    for (const { address } of peer ? [target, peer] : [target])
      await ensureNamespaces(address, Object.values(namespaces))
    if (options.pin) pinAll(target, peer, generator)
    const stage: Stage = {
      pairs: pairsOf(target, peer),
      generator,
      plan,
      rounds,
      run: `r${process.pid.toString(36)}${Math.round(performance.timeOrigin).toString(36)}`,
      wants,
      print,
    }
    for (const group of [listBench, requestBench, watchBench, limitBench]) await group(stage).catch(complain)
  } finally {
    if (options.pin && peer && canPin()) pin(peer.processIds, everyCore)
    await generator.stop()
    await ours.stop()
  }
}

/** A failed group does not stop the others, but the run has failed. */
function complain(error: unknown): void {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function pinAll(ours: Target, peer: Peer | undefined, generator: Generator): void {
  if (!canPin()) throw new Error('--pin needs two cores and taskset')
  pin([...ours.processIds, ...(peer?.processIds ?? [])], cores.server)
  pin([generator.processId], cores.generator)
}
