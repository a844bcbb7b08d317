/**
 * The readiness of children that a run has not applied.
 *
 * The rule is the one of the last apply: a CEL expression of a child that stays undeclared is stored on the child, a
 * function is known to the process that applied it. Without either, the rule of the kind decides.
 *
 * A child of which only metadata is cached is read from the server, once for each resourceVersion: nothing is sent while
 * it does not change. Nothing here is durable: after a restart each such child is read once.
 */
import type { KubeObject } from '#api'
import { readinessCheckFor, readinessOf, type Readiness, type ReadinessCheck } from '../readiness.ts'
import type { ChildRun } from './apply.ts'
import { childIdOf } from './desired-child.ts'
import { readyAnnotation } from './ownership-labels.ts'
import type { OwnedChild } from './prune.ts'
import type { ObservedChild } from './status.ts'

interface KnownChild {
  check?: ReadinessCheck
  /** The last state that was read from the server. */
  read?: { readonly resourceVersion: string; readonly object: KubeObject }
}

const knownMax = 20_000

/** What a controller knows about its children beside the cache, by UID. */
export class KnownChildren {
  readonly #byUid = new Map<string, KnownChild>()

  of({ metadata: { uid = '' } }: KubeObject): KnownChild {
    const known = this.#byUid.get(uid)
    if (known) return known
    if (this.#byUid.size >= knownMax)
      for (const oldest of this.#byUid.keys()) {
        this.#byUid.delete(oldest)
        break
      }
    const added: KnownChild = {}
    this.#byUid.set(uid, added)
    return added
  }

  /** The rule of the last apply by this process, unless it was the rule of the kind. */
  ruleOf({ metadata: { uid = '' } }: KubeObject): ReadinessCheck | undefined {
    return this.#byUid.get(uid)?.check
  }

  /** Notes the rule of an apply; the rule of the kind needs no note. */
  noteRule(child: KubeObject, check: ReadinessCheck): void {
    if (check !== readinessOf) this.of(child).check = check
    else if (this.ruleOf(child)) delete this.of(child).check
  }
}

/** Observes children that this run has not applied. A child that is gone by now is omitted. */
export async function observeChildren(
  run: ChildRun,
  children: readonly OwnedChild[],
): Promise<readonly (ObservedChild & { readonly object: KubeObject })[]> {
  const observed = await Promise.all(
    children.map(async (child) => {
      const object = child.isPartial ? await readWhole(run, child.object) : child.object
      if (!object) return undefined
      const readiness = await readinessNow(run, object)
      return { id: childIdOf(object), object, readiness, appliedFor: 'never' as const }
    }),
  )
  return observed.filter((child) => child !== undefined)
}

async function readinessNow({ known }: ChildRun, object: KubeObject): Promise<Readiness> {
  const rule = object.metadata.annotations?.[readyAnnotation]
  try {
    const check = known.ruleOf(object) ?? (await readinessCheckFor(rule))
    return check(object)
  } catch (error) {
    // The annotation was changed by hand.
    return {
      state: 'Progressing',
      reason: 'RuleFailed',
      message: error instanceof Error ? error.message : String(error),
    }
  }
}

async function readWhole(
  { base: { client, signal }, known }: ChildRun,
  partial: KubeObject,
): Promise<KubeObject | undefined> {
  const { apiVersion, kind, metadata } = partial
  const { resourceVersion = '', name = '', namespace } = metadata
  const child = known.of(partial)
  if (child.read?.resourceVersion === resourceVersion) return child.read.object
  const key = { name, ...(namespace !== undefined && { namespace }) }
  const object: KubeObject | undefined = await client.find({ apiVersion, kind }, key, { live: true, signal })
  if (!object || object.metadata.uid !== metadata.uid) return undefined
  child.read = { resourceVersion, object }
  return object
}
