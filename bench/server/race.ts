/**
 * Ours and the peer in turn, round after round, so that both run under the same conditions; the median counts.
 *
 * A case is printed once for each kind of object: ConfigMaps on both sides under its own name, and with ` vs cr`
 * against the peer's custom resource, with ours if we serve it and our ConfigMap otherwise.
 */
import { median } from '../print.ts'
import type { Figure, Print } from '../print.ts'
import type { LoadResult } from './load/jobs.ts'
import type { KindName } from './objects.ts'
import type { Target } from './target.ts'

export interface Side {
  readonly target: Target
  readonly kind: KindName
}

/** Two sides to compare; without a peer there is one. */
export interface Pair {
  /** The suffix of the name of the case. */
  readonly suffix: '' | ' vs cr'
  readonly ours: Side
  readonly peer: Side | undefined
  /** @default noPeer */
  readonly whyNoPeer?: string
}

export const noPeer = 'no kube-apiserver given'

export function pairsOf(ours: Target, peer: Target | undefined): Pair[] {
  const plain: Pair = {
    suffix: '',
    ours: { target: ours, kind: 'configmap' },
    peer: peer && { target: peer, kind: 'configmap' },
  }
  if (!peer?.kinds.includes('custom')) return [plain]
  const kind = ours.kinds.includes('custom') ? 'custom' : 'configmap'
  return [plain, { suffix: ' vs cr', ours: { target: ours, kind }, peer: { target: peer, kind: 'custom' } }]
}

/** Every side once per round. A side that takes part in two pairs is measured once. */
export async function race(
  pairs: readonly Pair[],
  rounds: number,
  run: (side: Side, round: number) => Promise<LoadResult>,
): Promise<Results> {
  const sides = sidesOf(pairs).map((side) => ({ side, results: [] as LoadResult[] }))
  for (let round = 0; round < rounds; round++) {
    for (const { side, results } of sides) results.push(await run(side, round))
  }
  const middles = new Map(sides.map(({ side, results }) => [sideKey(side), middle(results)]))
  return (side) => side && middles.get(sideKey(side))
}

/** The participants, each once. */
export function sidesOf(pairs: readonly Pair[]): Side[] {
  const sides = pairs.flatMap(({ ours, peer }) => (peer ? [ours, peer] : [ours]))
  return [...new Map(sides.map((side) => [sideKey(side), side])).values()]
}

export function sideKey({ target, kind }: Side): string {
  return `${target.address.url} ${kind}`
}

export function middle(results: readonly LoadResult[]): LoadResult {
  const of = (field: keyof LoadResult): number => median(results.map((result) => result[field]))
  return {
    count: of('count'),
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    serverCpuUs: of('serverCpuUs'),
    generatorBusy: of('generatorBusy'),
  }
}

/** A reading from a result. */
export interface Reading {
  readonly case: string
  readonly unit: string
  readonly lessIsBetter?: boolean
  /** Whether all other measurements are printed too. */
  readonly isMain?: boolean
  readonly of: (result: LoadResult) => number
}

export type Results = (side: Side | undefined) => LoadResult | undefined

export interface PrintOptions {
  readonly results: Results
  readonly print: Print
  /** Other readings to print next to the main one. */
  readonly more?: (pair: Pair) => Readonly<Record<string, number>>
}

/** Prints the readings of every pair; missing ones are omitted. */
export function printPairs(
  pairs: readonly Pair[],
  readings: readonly Reading[],
  { results, print, more = () => ({}) }: PrintOptions,
): void {
  for (const { of, isMain = false, ...reading } of readings) {
    for (const pair of pairs) {
      const [mine, theirs] = [results(pair.ours), results(pair.peer)]
      if (!mine || Number.isNaN(of(mine))) continue
      const beside = {
        ...(isMain && moreOf('ours', mine)),
        ...(isMain && theirs && moreOf('peer', theirs)),
        ...(isMain && more(pair)),
        ...(pair.suffix !== '' && { oursKind: pair.ours.kind }),
      }
      print({
        ...reading,
        case: `${reading.case}${pair.suffix}`,
        ours: of(mine),
        ...peerFigure(pair, theirs && of(theirs)),
        more: beside,
      })
    }
  }
}

/** Whether any of these readings is selected. */
export function wantsAny(pairs: readonly Pair[], names: readonly string[], wants: (name: string) => boolean): boolean {
  return names.some((name) => pairs.some(({ suffix }) => wants(`${name}${suffix}`)))
}

function peerFigure({ peer, whyNoPeer = noPeer }: Pair, value: number | undefined): Pick<Figure, 'peer' | 'peerName'> {
  if (!peer || value === undefined) return { peer: undefined, peerName: whyNoPeer }
  if (Number.isNaN(value))
    return { peer: undefined, peerName: `${peer.target.name}: give KUBE_APISERVER_PID and ETCD_PID` }
  return { peer: value, peerName: `${peer.target.name}${peer.kind === 'custom' ? ' cr' : ''}` }
}

function moreOf(
  who: 'ours' | 'peer',
  { p50Ms, p99Ms, serverCpuUs, generatorBusy }: LoadResult,
): Record<string, number> {
  return {
    [`${who}P50Ms`]: tidy(p50Ms),
    [`${who}P99Ms`]: tidy(p99Ms),
    ...(!Number.isNaN(serverCpuUs) && { [`${who}CpuUs`]: tidy(serverCpuUs) }),
    [`${who}GeneratorBusy`]: tidy(generatorBusy),
  }
}

function tidy(value: number): number {
  return Number(value.toPrecision(3))
}
