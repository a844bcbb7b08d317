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
import { compareRefs, refKey } from '../reference.ts'
import type { ObjectRef } from '../reference.ts'
import { recordedDependencies } from '../report.ts'
import type { ProtectionFinalizers } from './holds.ts'
import { annotateDependency, removeAnnotation } from './marks.ts'

export interface Edge extends ObjectRef {
  readonly apiVersion: string
  /** Prefixes of the annotations it gets. */
  readonly prefixes: readonly string[]
  readonly isProtected: boolean
  /** As it was read. */
  readonly object: KubeObject
}

/** An edge of an earlier run: a place, whatever is there by now. Objects are made again with what stood on them. */
export interface RecordedEdge extends ObjectRef {
  readonly apiVersion: string
}

interface EdgeContext {
  readonly base: BaseContext
  readonly referer: KubeObject
  readonly protection: ProtectionFinalizers
}

/** Each object once, with everything that is wanted of it. */
export function mergeEdges(edges: readonly Edge[]): readonly Edge[] {
  const merged = new Map<string, Edge>()
  for (const edge of edges) {
    const known = merged.get(refKey(edge))
    merged.set(
      refKey(edge),
      known
        ? {
            ...known,
            prefixes: [...new Set([...known.prefixes, ...edge.prefixes])].sort(),
            isProtected: known.isProtected || edge.isProtected,
          }
        : edge,
    )
  }
  return [...merged.values()].sort(compareRefs)
}

/** Writes what is wanted, the record first; then takes back what is not. Says what could not be marked. */
export async function applyEdges(
  wanted: readonly Edge[],
  settling: EdgeContext & { readonly lines: readonly DependencyReport[] },
): Promise<readonly string[]> {
  const { referer } = settling
  const recorded = recordedEdges(referer)
  const isRecorded = (edge: Edge): boolean => recorded.some((old) => isSameEdge(old, edge))
  if (!wanted.every(isRecorded)) await record(settling)
  const troubles: string[] = []
  for (const edge of wanted) {
    if (edge.isProtected) await settling.protection.protect(edge)
    const trouble = edge.prefixes.length > 0 ? await annotateDependency(edge, settling) : undefined
    if (trouble !== undefined) troubles.push(trouble)
  }
  await removeEdges(
    recorded.filter((old) => !wanted.some((edge) => isSameEdge(old, edge))),
    settling,
  )
  return troubles
}

/** Takes back what was written. What has gone has taken it along. */
export async function removeEdges(
  edges: readonly RecordedEdge[],
  { base, referer, protection: holds }: EdgeContext,
): Promise<void> {
  for (const edge of edges) {
    const object = await holds.read(edge)
    if (!object) continue
    const unmarked = await removeAnnotation(object, { base, referer })
    await holds.unprotect({ ...edge, object: unmarked })
  }
}

export function recordedEdges(referer: KubeObject): readonly RecordedEdge[] {
  return recordedDependencies(referer).flatMap(({ group, kind, namespace, name, apiVersion }) =>
    apiVersion === undefined ? [] : [{ group, kind, namespace, name, apiVersion }],
  )
}

export function isSameEdge(a: RecordedEdge, b: RecordedEdge): boolean {
  return refKey(a) === refKey(b)
}

/** New lines and old ones: nothing is forgotten before it was taken back. */
async function record({
  base: { client, signal },
  referer,
  lines,
}: EdgeContext & { readonly lines: readonly DependencyReport[] }): Promise<void> {
  const places = new Set(lines.map(refKey))
  const dependencies = [...lines, ...recordedDependencies(referer).filter((line) => !places.has(refKey(line)))].sort(
    compareRefs,
  )
  await client.subresource('status').patch(
    referer,
    {
      metadata: { resourceVersion: referer.metadata.resourceVersion ?? '' },
      status: { dependencies: dependencies as never },
    },
    { signal },
  )
}
