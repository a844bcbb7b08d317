/**
 * An edge: what a referer has written somewhere about an object it depends on, and has to take back again.
 *
 *   recorded in the referer's status ──▶ written on the object ──▶ no longer wanted: taken back ──▶ out of the status
 *
 * Invariant: nothing is written on an object before the record of it, so whatever happens in between, and whatever the
 * spec says by then, a later run knows where to look.
 */
import type { DependencyReport, KubeObject } from '#api'
import type { BaseContext } from '#controller'
import { comparePlaces, placeKey } from '../reference.ts'
import type { Place } from '../reference.ts'
import { recordedDependencies } from '../report.ts'
import type { Holds } from './holds.ts'
import { mark, unmark } from './marks.ts'

export interface Edge extends Place {
  readonly apiVersion: string
  /** Prefixes of the annotations it gets. */
  readonly prefixes: readonly string[]
  readonly isHeld: boolean
  /** As it was read. */
  readonly object: KubeObject
}

/** An edge of an earlier run: a place, whatever is there by now. Objects are made again with what stood on them. */
export interface OldEdge extends Place {
  readonly apiVersion: string
}

interface EdgeSettling {
  readonly base: BaseContext
  readonly referer: KubeObject
  readonly holds: Holds
}

/** Each object once, with everything that is wanted of it. */
export function mergeEdges(edges: readonly Edge[]): readonly Edge[] {
  const merged = new Map<string, Edge>()
  for (const edge of edges) {
    const known = merged.get(placeKey(edge))
    merged.set(
      placeKey(edge),
      known
        ? {
            ...known,
            prefixes: [...new Set([...known.prefixes, ...edge.prefixes])].sort(),
            isHeld: known.isHeld || edge.isHeld,
          }
        : edge,
    )
  }
  return [...merged.values()].sort(comparePlaces)
}

/** Writes what is wanted, the record first; then takes back what is not. Says what could not be marked. */
export async function settleEdges(
  wanted: readonly Edge[],
  settling: EdgeSettling & { readonly lines: readonly DependencyReport[] },
): Promise<readonly string[]> {
  const { referer } = settling
  const recorded = recordedEdges(referer)
  const isRecorded = (edge: Edge): boolean => recorded.some((old) => isSameEdge(old, edge))
  if (!wanted.every(isRecorded)) await record(settling)
  const troubles: string[] = []
  for (const edge of wanted) {
    if (edge.isHeld) await settling.holds.hold(edge)
    const trouble = edge.prefixes.length > 0 ? await mark(edge, settling) : undefined
    if (trouble !== undefined) troubles.push(trouble)
  }
  await dropEdges(
    recorded.filter((old) => !wanted.some((edge) => isSameEdge(old, edge))),
    settling,
  )
  return troubles
}

/** Takes back what was written. What has gone has taken it along. */
export async function dropEdges(edges: readonly OldEdge[], { base, referer, holds }: EdgeSettling): Promise<void> {
  for (const edge of edges) {
    const object = await holds.read(edge)
    if (!object) continue
    const unmarked = await unmark(object, { base, referer })
    await holds.letGo({ ...edge, object: unmarked })
  }
}

export function recordedEdges(referer: KubeObject): readonly OldEdge[] {
  return recordedDependencies(referer).flatMap(({ group, kind, namespace, name, apiVersion }) =>
    apiVersion === undefined ? [] : [{ group, kind, namespace, name, apiVersion }],
  )
}

export function isSameEdge(a: OldEdge, b: OldEdge): boolean {
  return placeKey(a) === placeKey(b)
}

/** New lines and old ones: nothing is forgotten before it was taken back. */
async function record({
  base: { client, signal },
  referer,
  lines,
}: EdgeSettling & { readonly lines: readonly DependencyReport[] }): Promise<void> {
  const places = new Set(lines.map(placeKey))
  const dependencies = [...lines, ...recordedDependencies(referer).filter((line) => !places.has(placeKey(line)))].sort(
    comparePlaces,
  )
  await client
    .subresource('status')
    .patch(
      referer,
      {
        metadata: { resourceVersion: referer.metadata.resourceVersion ?? '' },
        status: { dependencies: dependencies as never },
      },
      { signal },
    )
}
