/**
 * The observed state of a process: of every object, the last version that the process received.
 *
 * Whether a process made a mistake depends on what it could know, not on the true state. What arrives after a reconcile
 * has begun is unknown to it unless it reads again. So every reconcile records how much had arrived when it began.
 *
 * Tracking a reconcile through all its awaits costs as much as the reconcile. So a reconcile that runs alone in its
 * process is recorded by the process, and only concurrent ones are tracked. Requests from elsewhere count as requests of
 * the reconcile that runs alone: this hides a mistake at worst and never invents one.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { isJsonObject, type JsonObject, type UnstructuredObject } from '#api'
import type { BaseContext, ControllerDeclaration } from '#controller'
import { noteReconcile } from './hang-watchdog.ts'
import { parseCached } from './requests.ts'

export class ObservedState {
  /** How much had arrived when the reconcile began that runs alone, while one does. */
  runStartArrivals: number | undefined
  readonly #objects = new Map<string, UnstructuredObject>()
  #arrivals = 0
  /** The arrival that first showed an object in deletion, by uid. */
  readonly #deletingSince = new Map<string, number>()
  /** A text with a deletionTimestamp has arrived. */
  #mentionsDeletion = false
  /** What has arrived and is not parsed yet: most of it never is. */
  #arrived: { readonly type: 'line' | 'body'; readonly text: string; readonly arrival: number }[] = []

  /** The last observed version; undefined when the object was never observed, or observed as deleted. */
  find(kind: string, { namespace = '', name }: { namespace?: string; name: string }): UnstructuredObject | undefined {
    this.#parseArrived()
    return this.#objects.get(`${kind} ${namespace}/${name}`)
  }

  /** All observed objects. */
  all(): IterableIterator<UnstructuredObject> {
    this.#parseArrived()
    return this.#objects.values()
  }

  /** How much has arrived. */
  get arrivals(): number {
    return this.#arrivals
  }

  /** Objects that were observed in deletion by the given arrival. */
  deleting(before = Infinity): UnstructuredObject[] {
    if (!this.#mentionsDeletion) return []
    return [...this.all()].filter(
      ({ metadata: { deletionTimestamp, uid = '' } }) =>
        deletionTimestamp !== undefined && (this.#deletingSince.get(uid) ?? 0) <= before,
    )
  }

  /** A watch event arrived. */
  addWatchLine(text: string): void {
    this.#add('line', text)
  }

  /** A response arrived: an object or a list. */
  addBody(text: string): void {
    this.#add('body', text)
  }

  #add(type: 'line' | 'body', text: string): void {
    this.#arrived.push({ type, text, arrival: ++this.#arrivals })
    this.#mentionsDeletion ||= text.includes('"deletionTimestamp"')
  }

  #parseArrived(): void {
    for (const { type, text, arrival } of this.#arrived) {
      if (type === 'line') this.#addLine(text, arrival)
      else this.#addDocument(text, arrival)
    }
    this.#arrived = []
  }

  #addLine(text: string, arrival: number): void {
    const event = parsed(text)
    const object = event?.['object']
    if (!isJsonObject(object) || !isObject(object)) return
    if (event?.['type'] === 'DELETED') this.#objects.delete(keyOf(object))
    else if (event?.['type'] !== 'BOOKMARK') this.#addObject(object, arrival)
  }

  #addDocument(text: string, arrival: number): void {
    const document = parsed(text)
    if (!document) return
    const { items, kind, apiVersion } = document
    if (!Array.isArray(items)) return this.#addObject(document, arrival)
    const type = { kind: String(kind).replace(/List$/, ''), apiVersion: apiVersion as string }
    for (const item of items) if (isJsonObject(item)) this.#addObject({ ...type, ...item }, arrival)
  }

  #addObject(object: JsonObject, arrival: number): void {
    if (!isObject(object) || object.kind === 'Status') return
    this.#objects.set(keyOf(object), object)
    const { deletionTimestamp, uid = '' } = object.metadata
    if (deletionTimestamp !== undefined && !this.#deletingSince.has(uid)) this.#deletingSince.set(uid, arrival)
  }
}

function isObject(value: unknown): value is UnstructuredObject {
  return isJsonObject(value) && isJsonObject(value['metadata']) && typeof value['kind'] === 'string'
}

function keyOf({ kind, metadata: { namespace = '', name = '' } }: UnstructuredObject): string {
  return `${kind} ${namespace}/${name}`
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parseCached(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** For concurrent reconciles: how much had arrived when they began. */
const concurrentRuns = new AsyncLocalStorage<number>()

/** How much had arrived when the current reconcile began; undefined outside of a reconcile. */
export function arrivalsAtRunStart({ runStartArrivals }: ObservedState): number | undefined {
  return concurrentRuns.getStore() ?? runStartArrivals
}

/** Ends the tracking of concurrent reconciles, which costs time. */
export function stopTrackingRuns(): void {
  concurrentRuns.disable()
}

interface TrackRunsOptions {
  readonly observed: ObservedState
  /** A reconcile begins. */
  onRun(): void
}

/** The same controller; its reconciles record how much had arrived when they began. */
export function trackRuns(
  declaration: ControllerDeclaration,
  { observed, onRun }: TrackRunsOptions,
): ControllerDeclaration {
  const tracked =
    <P extends unknown[], R>(run: (...parameters: P) => R, self: object) =>
    (...parameters: P): R => {
      const begin = (): R => run.apply(self, parameters)
      const { namespace = '', name } = (parameters[1] as Pick<BaseContext, 'key'>).key
      noteReconcile(declaration.name ?? declaration.for.kind.toLowerCase(), `${namespace}/${name}`)
      onRun()
      return observed.runStartArrivals === undefined
        ? runAlone(begin, observed)
        : concurrentRuns.run(observed.arrivals, begin)
    }
  const { reconcile, reconcileKey, cleanup } = declaration
  const runs = {
    ...(reconcile && { reconcile: tracked(reconcile, declaration) }),
    ...(reconcileKey && { reconcileKey: tracked(reconcileKey, declaration) }),
    ...(typeof cleanup === 'function' && { cleanup: tracked(cleanup, declaration) }),
    ...(Array.isArray(cleanup) && {
      cleanup: cleanup.map((step) => ({ ...step, cleanup: tracked(step.cleanup, step) })),
    }),
  }
  return Object.assign(
    Object.create(Object.getPrototypeOf(declaration) as object) as ControllerDeclaration,
    declaration,
    runs,
  )
}

function runAlone<R>(begin: () => R, observed: ObservedState): R {
  const end = (): void => {
    observed.runStartArrivals = undefined
  }
  observed.runStartArrivals = observed.arrivals
  let result: unknown
  try {
    return (result = begin())
  } finally {
    if (result instanceof Promise) result.then(end, end)
    else end()
  }
}
